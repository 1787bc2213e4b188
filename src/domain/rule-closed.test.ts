import { describe, test } from 'node:test';
import { CLOSED, OPTION, PROGRAM, refusedEach, SCRIPT, takenEach } from './rule-commands-for-tests.ts';

describe('T14: What an event fills in', () => {
  test('never says in which directory or file system, or by which configuration, a program is started', async () => {
    await refusedEach([
      'sudo -R X id', 'sudo -nR X id', 'sudo -R/srv/X id', 'sudo --chroot=X id', 'sudo --chroot X id', 'sudo --chr=/srv/X id', 'sudo -D X ./run.sh', 'sudo -u www -D X ./run.sh', 'sudo --chdir=X ./run.sh', 'sudo --user www --chdir=X ./run.sh', 'env -C X ./run.sh',
      'env --chdir=X ./run.sh', 'env A=1 -C X ./run.sh', 'doas -C X id', 'systemd-run --working-directory=X ./x', 'systemd-run --root-directory=X ./x', 'systemd-run --root-directory X ./x', 'systemd-run -H X ./x', 'systemd-run -M X ./x', 'timeout 5 sudo -D X ./run.sh',
      'proxychains4 -f X id', 'valgrind --tool=X /opt/fix', 'xvfb-run -s X /opt/fix', 'xvfb-run --server-args=X /opt/fix',
    ], PROGRAM); // prettier-ignore
    await takenEach([
      'sudo -u www /opt/fix -D X',
      'sudo -D /srv ./run.sh X',
      'sudo tar -xf X -C /srv/X',
      'env LANG=C tar -xf /a -C /srv/X',
      'env -C /srv ./run.sh X',
      'systemd-run --working-directory=/srv ./x X',
      'systemd-run --unit=fix-X ./x',
    ]);
  });

  test('never stands where it would write the name of an option, whatever the program is', async () => {
    await refusedEach(
      [
        '/opt/x -X',
        '/opt/x --X',
        '/opt/x a --X=b',
        '/opt/x --no-X',
        '/opt/x --eX',
        '/opt/x -X.log',
        'sudo /opt/x -X',
        'echo -- -X',
      ],
      OPTION,
    );
    await refusedEach(['find -X', 'find / -X', 'find / -eX', 'find / -X id ;'], SCRIPT);
    await takenEach([
      '/opt/x -nX',
      '/opt/x --name=X',
      '/opt/x --name X',
      '/opt/x a-X',
      '/opt/x a--X',
      'find / -mtime +X',
      'find / -name a-X',
    ]);
  });

  test('stands behind a verb only where that is no value of an option before it', async () => {
    await refusedEach([
      'docker --context stop plugin install X', 'docker -c stop plugin install X', 'docker --new stop plugin install X', 'docker plugin rm X', 'docker plugin install rm X', 'docker compose -p stop publish X', 'docker compose --new stop publish X', 'docker image image rm X',
      'kubectl -n delete cp X x:/y', 'kubectl --namespace delete cp X x:/y', 'kubectl --new delete cp X x:/y', 'podman --url stop machine ssh X', 'nerdctl -n stop load X', 'git -C log archive X', 'git --git-dir log archive X', 'git --new log archive X', 'git archive log X',
      'lxc --project stop publish X', 'lxc publish stop X', 'machinectl -M stop import-tar X', 'machinectl import-tar stop X',
    ], CLOSED); // prettier-ignore
    await takenEach([
      'docker --context stop restart X', 'docker --context=prod restart X', 'docker -D -l debug logs X', 'docker container restart X', 'docker compose -p shop restart X', 'docker compose -f /srv/c.yml --profile a stop X', 'docker network disconnect net X', 'docker rmi X',
      'docker image rm X', 'docker volume rm X', 'docker-compose -f /srv/c.yml restart X', 'podman --remote restart X', 'podman pod restart X', 'nerdctl -n k8s.io stop X', 'kubectl --context prod -n a rollout restart X', 'kubectl --request-timeout=5s delete pod X', 'git -C log log X', 'git --no-pager log X',
      'git worktree add /srv/X', 'lxc --project a restart X', 'lxc image delete X',
    ]); // prettier-ignore
  });

  test('never says which server a tool speaks to, as whom, or which file tells what is deleted', async () => {
    await refusedEach([
      'kubectl delete pod a --server=X', 'kubectl delete pod a -s X', 'kubectl delete pod a -sX', 'kubectl --server=X delete pod a', 'kubectl get pod --token=X', 'kubectl get pod --token X', 'kubectl get pod --as=X', 'kubectl get pod --as-group X', 'kubectl get pod --insecure-skip-tls-verify=X',
      'kubectl get pod --context X', 'kubectl delete -f X', 'kubectl delete --filename=X', 'kubectl delete -k X', 'oc delete -f X', 'k3s kubectl delete -f X',
      'docker -H X restart web', 'docker --host=X restart web', 'docker restart web --host=X', 'podman --remote restart --url=X web', 'podman restart --url X web', 'podman restart --runtime=X web', 'systemctl -H X restart a', 'systemctl restart -H X a', 'systemctl restart -Hweb-X a', 'systemctl restart --host=X a', 'systemctl restart -M X a',
      'machinectl reboot a --host=X',
    ], CLOSED); // prettier-ignore
    await takenEach([
      'kubectl --server=https://a delete pod X',
      'kubectl delete pod -l app=X',
      'kubectl -n a scale --replicas=X deployment/b',
      'systemctl -H web1 restart X',
      'docker logs --tail=X web',
      'docker stop -t X web',
    ]);
  });

  test('stands behind the verbs of systemctl that start or tell of a unit, and of none that make one or change its environment', async () => {
    await refusedEach([
      'systemctl link X', 'systemctl enable X', 'systemctl enable --now X', 'systemctl --now enable X', 'systemctl reenable X', 'systemctl edit X', 'systemctl set-environment A=X', 'systemctl import-environment X', 'systemctl --root=X enable a', 'systemctl restart --root=X a', 'systemctl restart --root X a',
      'systemctl X nginx', 'systemctl -s kill link X', 'systemctl --new kill link X', 'systemctl set-property X A=1', 'systemctl switch-root X', 'sudo systemctl link X',
    ], CLOSED); // prettier-ignore
    await takenEach(
      ['restart', 'start', 'stop', 'reload', 'try-restart', 'status', 'is-active', 'kill', 'reset-failed'].flatMap(
        (verb) => [
          `systemctl ${verb} X`,
          `sudo systemctl --no-block ${verb} X.service`,
          `systemctl --user ${verb} --quiet app@X`,
        ],
      ),
    );
    await takenEach(['systemctl -s HUP kill X', 'systemctl kill --signal=HUP X', 'systemctl enable nginx']);
  });

  test('never stands behind programs that run a package, a script or what a setting of the kernel names', async () => {
    await refusedEach(
      [
        'java -jar /a.jar X',
        'go run X',
        'pip install X',
        'pip3 install X',
        'gem install X',
        'cargo install X',
        'Rscript /a.R X',
        'julia /a.jl X',
        'sysctl -w X',
        'sysctl -w kernel.core_pattern=X',
      ],
      CLOSED,
    );
    await takenEach(['java -jar /a.jar', 'sysctl -w vm.drop_caches=1']);
  });

  test('is not the value of an option by which certbot, helm, borg, restic, curl and other tools run something', async () => {
    await refusedEach([
      'certbot renew --deploy-hook X', 'certbot renew --deploy-hook=X', 'certbot renew --pre-h=X', 'certbot renew -c X', 'helm upgrade a /srv/a --post-renderer=X', 'helm rollback a --kubeconfig X', 'borg create --rsh=X /r::a /srv', 'borg list --remote-path X /r', 'restic snapshots --password-command X',
      'restic -o rclone.program=X snapshots', 'restic -r X snapshots', 'restic --option X snapshots', 'curl -K X', 'curl -sK X', 'curl --config=X', 'curl --conf X', 'split --filter=X /a', 'split --filter X /a', 'sort --compress-program=X /a', 'sort --compress-program X /a', 'rg --pre X a', 'rg --pre=X a',
      'ag --pager X a', 'ag --pager=X a', 'wget --use-askpass=X https://a', 'wget -e X https://a', 'wget -qe X https://a', 'wget --execute=X https://a',
    ], SCRIPT); // prettier-ignore
    await refusedEach(
      ['helm X', 'helm plugin install X', 'borg with-lock /r X', 'restic backup --stdin-from-command -- X'],
      CLOSED,
    );
    await takenEach([
      'certbot renew --cert-name X', 'certbot certonly -d X', 'helm rollback X', 'helm uninstall -n a X', 'borg create /r::a-X /srv', 'restic forget X', 'restic -r /r backup /srv/X', 'curl -fsS https://host/X', 'curl --include X', 'curl -o /tmp/a --data msg=X https://host/', 'split -l X /a', 'sort -k X /a', 'rg --file X /a',
      'ag X /a', 'wget https://host/X', 'wget -O /tmp/X https://host/a', 'tar --create --file=X x', 'tar --create --file X x',
    ]); // prettier-ignore
  });

  test('never names the program behind an init of a container, a proxy, a checker or pct exec, but may be its argument', async () => {
    await refusedEach([
      'tini X', 'tini -- X', 'tini -g -p SIGTERM -- X', 'dumb-init X', 'dumb-init -r 15:3 X', 'unbuffer X', 'unbuffer -p X', 'proxychains X', 'proxychains4 -q X', 'torsocks X', 'torsocks -P 90 X', 'valgrind X', 'valgrind --leak-check=full X', 'xvfb-run X', 'xvfb-run -a X', 'xvfb-run -n 9 X', 'pct exec 101 X',
      'pct exec 101 -- X', 'pct exec X -- /opt/fix', 'pct exec 101 --keep-env 1 -- X', 'pct exec 101 -- sudo X', 'tini -- sudo X',
    ], PROGRAM); // prettier-ignore
    await refusedEach(
      ['tini -- psql -c X', 'pct exec 101 -- psql -c X', 'pct exec 101 -- sh X', 'dumb-init ssh host X'],
      SCRIPT,
    );
    await refusedEach(['pct push 101 X /a', 'pct set 101 --hookscript X', 'pct X 101', 'tini -- java X'], CLOSED);
    await takenEach([
      'tini -g -- /opt/fix X',
      'dumb-init -r 15:3 /opt/fix X',
      'unbuffer /opt/fix X',
      'proxychains4 -q curl X',
      'torsocks curl X',
      'valgrind --leak-check=full /opt/fix X',
      'xvfb-run -a /opt/fix X',
      'pct exec 101 -- systemctl restart X',
      'pct exec 101 /opt/fix X',
      'pct stop X',
    ]);
  });
});

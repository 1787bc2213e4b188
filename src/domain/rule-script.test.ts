import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { ActionRefused, compileAction } from './rule-fill.ts';

/** The words of a command as one would type them: `X` is what comes from the event, and `'…'` holds one word together. */
function words(line: string): string[] {
  return Array.from(line.matchAll(/'([^']*)'|\S+/g), ([whole, quoted]) => (quoted ?? whole).replaceAll('X', '${event.name}'));
}

async function refusal(line: string): Promise<string | null> {
  try {
    await compileAction({ kind: 'command', command: words(line), inventory: 'localhost', limit: null, timeout: null });
    return null;
  } catch (error) {
    assert.ok(error instanceof ActionRefused, line);
    return error.message;
  }
}

async function refusedEach(lines: readonly string[], why: RegExp): Promise<void> {
  for (const line of lines) assert.match((await refusal(line)) ?? 'taken', why, line);
}

async function takenEach(lines: readonly string[]): Promise<void> {
  for (const line of lines) assert.equal(await refusal(line), null, line);
}

const PROGRAM = /^command: \$\{…\} where a program is named would let the event choose the program/;
const SCRIPT = /^command: \$\{…\} in a script would let the event write the program/;
const CLOSED = /^command: \$\{…\} there could let the event choose or write what [a-z0-9-]+ runs/;

describe('T14: What an event fills in', () => {
  test('never names the program behind one that only starts another', async () => {
    await refusedEach([
      'setsid X', 'setsid -w X', 'setpriv --reuid=33 --clear-groups X', 'stdbuf -oL X', 'stdbuf -o L X', 'ionice -c 3 X', 'chrt -f 10 X', 'taskset -c 0 X', 'time -p X', 'strace -f -o /t X',
      'ltrace -S X', 'systemd-run --wait X', 'systemd-run --scope --slice=a X', 'unshare -m X', 'nsenter -t 1 -m X', 'nsenter --target=1 --mount X', 'chroot /srv X', 'flock -n /run/l X', 'busybox X',
      'toybox X', 'prlimit --nofile=9 X', 'sshpass -p a X', 'sudo setsid nice -n 5 X', 'find / -exec X {} ;', 'find / -execdir /opt/X {} ;', 'find / -ok X ;', 'find / -exec env X {} ;',
      'find / -exec timeout 5 X {} ;', 'xargs X', 'xargs -0 -n 1 X', 'xargs --max-args=1 X', 'k3s X',
    ], PROGRAM); // prettier-ignore
    await takenEach([
      'setsid -w /opt/fix X', 'setpriv --reuid=33 --clear-groups -- /opt/fix X', 'stdbuf -oL /opt/fix X', 'ionice -c 3 /opt/fix X', 'chrt -f 10 /opt/fix X', 'taskset -c 0 /opt/fix X',
      'time -p /opt/fix X', 'strace -f -o /t /opt/fix X', 'systemd-run --wait --unit=fix-X /opt/fix X', 'nsenter -t 1 -m systemctl restart X', 'chroot /srv /opt/fix X', 'flock -n /run/X /opt/fix X',
      'busybox ls X', 'find /srv/X -name X -delete', 'find /srv -name X -exec rm {} ;', 'xargs -n 1 /opt/fix X', 'k3s kubectl delete pod X',
    ]); // prettier-ignore
  });

  test('never stands where a long option may, or may not, have taken the word before as its value', async () => {
    await refusedEach([
      'timeout --foreground 5 X', 'timeout --foreground 5 sudo X', 'chroot --skip-chdir /srv X', 'flock --nonblock /run/l X', 'taskset --all-tasks 1 X', 'sudo --non-interactive X', 'sudo --non-interactive env X',
    ], PROGRAM); // prettier-ignore
    await refusedEach(['sudo --non-interactive sh X', 'sudo --non-interactive psql --quiet -c X', 'timeout --foreground 5 awk X'], /^command/);
    await takenEach(['timeout --foreground -- 5 /opt/fix X', 'sudo --non-interactive -- /opt/fix X', 'sudo --user www --non-interactive -- /opt/fix X']);
  });

  test('never says in which file system, or in whose, the program is looked for', async () => {
    await refusedEach(['chroot X /opt/fix', 'chroot /srv/X /opt/fix', 'nsenter -t X -m /opt/fix', 'nsenter --target=X --mount -- /opt/fix', 'unshare -R X /opt/fix'], PROGRAM);
  });

  test('never writes more letters of an option, or its name', async () => {
    await refusedEach(['rsync --X /a /b', 'rsync -aX /a /b', 'tar -czX /a', 'psql -tX db', 'sed -nX p', 'perl -nX', 'ssh -nX host uptime', 'node --X', 'git log -X', 'kubectl delete --X pod'], SCRIPT);
    await refusedEach(['sudo -X /opt/fix', 'timeout --X 5 /opt/fix', 'env -X /opt/fix'], PROGRAM);
    await takenEach(['rsync --exclude=X /a /b', 'tar --exclude=X -czf /a.tgz /a', 'git log --grep=X', 'timeout --kill-after=X 5 /opt/fix', 'journalctl -uX']);
  });

  test('stands behind those words of a container or cluster tool that run nothing, and nowhere else', async () => {
    await refusedEach([
      'docker exec web X', 'docker exec X /opt/fix', 'docker exec -it web /opt/fix X', 'docker run X', 'docker run --rm alpine X', 'docker run -v X:/srv alpine', 'docker create X', 'docker X web',
      'docker compose exec web X', 'docker compose run web X', 'docker compose -p logs exec web X', 'docker -H X restart web', 'docker container exec web X', 'docker build X', 'docker cp X web:/x',
      'podman exec web X', 'podman run alpine X', 'nerdctl exec web X', 'sudo docker exec web X', 'timeout 60 docker run alpine X', 'docker-compose exec web X',
      'kubectl exec X -- /opt/fix', 'kubectl exec web -- X', 'kubectl -n a exec web -c b -- /opt/fix X', 'kubectl run X --image=a', 'kubectl debug X', 'kubectl apply -f X', 'kubectl X pod', 'kubectl patch pod X',
      'oc exec web -- X', 'oc rsh X', 'k3s kubectl exec web -- X',
      'lxc exec web X', 'lxc exec web -- X', 'incus exec X -- ls', 'machinectl shell web X', 'machinectl shell X', 'systemd-nspawn -D X',
    ], CLOSED); // prettier-ignore
    await refusedEach(["docker exec web sh -c 'echo X'", "kubectl exec web -- sh -c 'X'", 'kubectl delete pod --kubeconfig X', 'kubectl delete --kubeconfig=X pod a', 'kubectl --kubeconfig=X delete pod', "lxc exec web -- sh -c 'X'", "machinectl shell web /bin/sh -c 'X'"], SCRIPT);
    assert.match((await refusal('docker exec web X')) ?? '', /; it may stand behind restart, stop, /);
    await takenEach([
      'docker restart X', 'docker logs X', 'docker logs --since X web', 'docker --context prod restart X', 'sudo docker restart X', 'docker compose restart X', 'podman stop X', 'docker rm -f X',
      'kubectl rollout restart deployment/X', 'kubectl delete pod X', 'kubectl -n prod delete pod X', 'kubectl --namespace prod scale --replicas=0 deployment/X', 'oc rollout restart dc/X', 'kubectl drain X',
      'lxc restart X', 'machinectl reboot X', 'docker exec web /opt/fix', 'kubectl exec web -- /opt/fix', 'docker run --rm alpine true', 'ip link set X up',
    ]); // prettier-ignore
  });

  test('never stands behind programs that run what they are told in many ways', async () => {
    await refusedEach([
      'ansible all -a X', 'ansible X -m ping', 'ansible all -m shell -a X', 'ansible-playbook X.yml', 'ansible-playbook -e host=X a.yml', 'ansible-playbook --extra-vars=host=X a.yml', 'salt X cmd.run id',
      'su X', 'su -c X', 'su - www -c X', 'su -lc X root', 'su www X', 'runuser X', 'runuser www X', "script -c 'ls X' /t", 'script -qc X', 'script /t -- X', 'parallel X', 'parallel /opt/fix X', 'parallel /opt/fix ::: X',
      'vim -c X', 'vim X', 'vim +X', 'vi /srv/X', 'less X', 'less +X /f', 'man X', 'man -P X ls', 'gdb -ex X', 'gdb --args X', 'gdb -p X', 'make X', 'make A=X', 'tmux new-session X', 'screen -dm X', 'sqlite3 /db X', 'ip netns exec X ls',
      'ip netns exec a X', 'bwrap X', 'pssh -h /h X', 'at -f X now',
    ], CLOSED); // prettier-ignore
    await takenEach(['ansible all -m ping', 'su www -c /opt/fix', 'make -C /srv all', 'ansible-playbook -l web1 a.yml']);
  });

  test('is never the value of an option that takes a program or a script', async () => {
    await refusedEach([
      'ssh -oProxyCommand=X host', 'ssh -o ProxyCommand=X host', 'ssh -o LocalCommand=X host', 'ssh -F X host', 'ssh -I X host', 'ssh host systemctl restart X', 'autossh -M 0 host X', 'sshpass -f /p ssh host X', 'scp -o X a b:/', 'scp -S X a b:/', 'sftp -b X host',
      'rsync -e X /a b:/', "rsync -e 'ssh -p X' /a b:/", 'rsync -ae X /a b:/', 'rsync --rsh=X /a b:/', 'rsync --rsh X /a b:/', 'rsync --rsync-path=X /a b:/', 'rsync --rsync-p=X /a b:/', 'rsync -M X /a b:/',
      'git -c core.pager=X log', 'git -c X log', 'git clone --upload-pack=X u', 'git clone --upload-pack X u', 'git clone -u X u', 'git fetch --upload-p X u', 'git push --receive-pack=X u', 'git --exec-path=X log', 'git clone -c a=X u', 'git grep -O X',
      'tar --to-command=X -xf a', 'tar --to-command X -xf a', 'tar --checkpoint=1 --checkpoint-action=exec=X -cf a b', 'tar -I X -cf a b', 'tar --use-compress-program=X -cf a b', 'tar --use-comp X -cf a b', 'tar -F X -cf a b', 'tar cf a --new-volume-script=X b',
      'awk -f X', 'gawk -l X', 'gawk -i X p', 'nawk X', 'gsed X', 'sed -e X /f', 'sed -f X /f', "awk -v a=b '/X/' /f", 'systemd-run -p ExecStartPre=X /opt/fix', 'systemd-run --property=X /opt/fix', 'systemd-run --property X /opt/fix', 'strace -o X ls',
      'psql -f X', 'psql --file=X', 'fd -x X', 'fd --exec X', 'fd --exec-batch X', 'start-stop-daemon --start --exec X', 'start-stop-daemon -S -x X', 'flock /run/l -c X',
    ], SCRIPT); // prettier-ignore
    await refusedEach(['git clone ext::X /a', 'git submodule foreach X', 'git bisect run X', 'git config core.pager X', 'git X', 'git -C X pull', 'git rebase -i X', 'tar cIf X a b', 'tar X /etc'], CLOSED);
    await refusedEach(['env TAR_OPTIONS=X tar xf a', 'env GIT_SSH_COMMAND=X git fetch', 'env RSYNC_RSH=X rsync a b:', 'sudo MANPAGER=X man ls', 'env KUBECONFIG=X kubectl get pods'], PROGRAM);
    await takenEach([
      'git -C /srv/x fetch', 'git -C /srv/x log X', 'git clone X /srv/a', 'git -C /srv/x checkout X', 'git commit -m X', 'tar czf X /etc', 'tar -czf X /etc', 'tar -xf /a.tgz -C /srv/X', 'tar xf X', 'rsync -a /srv X:/srv', 'rsync -a --rsh=ssh /srv X:/srv',
      'rsync -e ssh -a /srv X:/srv', 'ssh X uptime', 'ssh -o BatchMode=yes X uptime', 'scp /a X:/b', "awk -v n=X '{print n}' /f", 'sed -n p X', 'psql -h X -c select', 'runuser -u www -- /opt/fix X', 'systemctl restart X',
    ]); // prettier-ignore
  });
});

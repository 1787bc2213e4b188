import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { CLOSED, PROGRAM, refusal, refusedEach, SCRIPT, takenEach } from './rule-commands-for-tests.ts';

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
    await refusedEach(
      ['sudo --non-interactive sh X', 'sudo --non-interactive psql --quiet -c X', 'timeout --foreground 5 awk X'],
      /^command/,
    );
    await takenEach([
      'timeout --foreground -- 5 /opt/fix X',
      'sudo --non-interactive -- /opt/fix X',
      'sudo --user www --non-interactive -- /opt/fix X',
    ]);
  });

  test('never says in which file system, or in whose, the program is looked for', async () => {
    await refusedEach(
      [
        'chroot X /opt/fix',
        'chroot /srv/X /opt/fix',
        'nsenter -t X -m /opt/fix',
        'nsenter --target=X --mount -- /opt/fix',
        'unshare -R X /opt/fix',
      ],
      PROGRAM,
    );
  });

  test('never writes more letters of an option, or its name', async () => {
    await refusedEach(
      [
        'rsync --X /a /b',
        'rsync -aX /a /b',
        'tar -czX /a',
        'psql -tX db',
        'sed -nX p',
        'perl -nX',
        'ssh -nX host uptime',
        'node --X',
        'git log -X',
      ],
      SCRIPT,
    );
    await refusedEach(['kubectl delete --X pod', 'docker stop -X web'], CLOSED);
    await refusedEach(['sudo -X /opt/fix', 'timeout --X 5 /opt/fix', 'env -X /opt/fix'], PROGRAM);
    await takenEach([
      'rsync --exclude=X /a /b',
      'tar --exclude=X -czf /a.tgz /a',
      'git log --grep=X',
      'timeout --kill-after=X 5 /opt/fix',
      'journalctl -uX',
    ]);
  });

  test('stands behind those words of a container or cluster tool that run nothing, and nowhere else', async () => {
    await refusedEach([
      'docker exec web X', 'docker exec X /opt/fix', 'docker exec -it web /opt/fix X', 'docker run X', 'docker run --rm alpine X', 'docker run -v X:/srv alpine', 'docker create X', 'docker X web',
      'docker compose exec web X', 'docker compose run web X', 'docker compose -p logs exec web X', 'docker -H X restart web', 'docker container exec web X', 'docker build X', 'docker cp X web:/x',
      'podman exec web X', 'podman run alpine X', 'nerdctl exec web X', 'sudo docker exec web X', 'timeout 60 docker run alpine X', 'docker-compose exec web X',
      'kubectl exec X -- /opt/fix', 'kubectl exec web -- X', 'kubectl -n a exec web -c b -- /opt/fix X', 'kubectl run X --image=a', 'kubectl debug X', 'kubectl apply -f X', 'kubectl X pod', 'kubectl patch pod X',
      'oc exec web -- X', 'oc rsh X', 'kubectl delete pod --kubeconfig X', 'kubectl delete --kubeconfig=X pod a', 'kubectl --kubeconfig=X delete pod', 'k3s kubectl exec web -- X',
      'lxc exec web X', 'lxc exec web -- X', 'incus exec X -- ls', 'machinectl shell web X', 'machinectl shell X', 'systemd-nspawn -D X',
    ], CLOSED); // prettier-ignore
    await refusedEach(
      [
        "docker exec web sh -c 'echo X'",
        "kubectl exec web -- sh -c 'X'",
        "lxc exec web -- sh -c 'X'",
        "machinectl shell web /bin/sh -c 'X'",
      ],
      SCRIPT,
    );
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
    await takenEach([
      'ansible all -m ping',
      'su www -c /opt/fix',
      'make -C /srv all',
      'ansible-playbook -l web1 a.yml',
    ]);
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
    await refusedEach(
      [
        'git submodule foreach X',
        'git bisect run X',
        'git config core.pager X',
        'git X',
        'git -C X pull',
        'git rebase -i X',
        'tar cIf X a b',
        'tar X /etc',
      ],
      CLOSED,
    );
    await refusedEach(
      [
        'env TAR_OPTIONS=X tar xf a',
        'env GIT_SSH_COMMAND=X git fetch',
        'env RSYNC_RSH=X rsync a b:',
        'sudo MANPAGER=X man ls',
        'env KUBECONFIG=X kubectl get pods',
      ],
      PROGRAM,
    );
    await takenEach([
      'git -C /srv/x fetch', 'git -C /srv/x log X', 'git clone https://host/X /srv/a', 'git -C /srv/x checkout X', 'git commit -m X', 'tar czf X /etc', 'tar -czf X /etc', 'tar -xf /a.tgz -C /srv/X', 'tar xf X', 'rsync -a /srv X:/srv', 'rsync -a --rsh=ssh /srv X:/srv',
      'rsync -e ssh -a /srv X:/srv', 'ssh X uptime', 'ssh -o BatchMode=yes X uptime', 'scp /a X:/b', "awk -v n=X '{print n}' /f", 'sed -n p X', 'psql -h X -c select', 'runuser -u www -- /opt/fix X', 'systemctl restart X',
    ]); // prettier-ignore
  });

  test('stands behind the script of an interpreter only where all that is before the script is known', async () => {
    await refusedEach([
      'bash +e -c X', 'sh +x -c X', 'bash +O extglob -c X', 'bash +o pipefail X', 'bash --rcfile f -c X', 'bash --rcfile f X', 'bash -rcfile f X', 'bash --init-file f -c X', 'sudo bash +e -c X', 'bash -c -e X', 'sh -c -- X', 'sh - X',
      'bash - X', 'bash -o -c X', 'sh -s X', 'fish --init-command x -c X', 'fish -C x X', 'fish -p /t X', 'ksh -R /t X', 'sed --line-length 5 s/a/X/e f', "sed --line-length 5 's/a/X/e' f", 'sed -l 5 X f', 'sed -i p X', 'sed -n --zero X', 'sed p /f -e X', 'sed p -i X',
      'python3 --check-hash-based-pycs default -c X', 'python3 -m timeit X', 'python3 -W X f', 'python3 - X', 'pypy3 -c X', "gawk --assign a=1 '{print X}'", "gawk --field-separator : '{X}'", 'gawk -i lib X', 'gawk --include=lib X', 'gawk --load lib X', 'mawk -W exec X',
      'php --define a=1 -r X', 'php -d a=1 -r X', 'php -B a X', 'pwsh -nop -ep bypass -Command X', 'pwsh -wd /x -c X', 'pwsh -nop -Command a X', 'pwsh -c a X', 'pwsh X', 'pwsh -- a X', 'pwsh -File X', 'node --require a X', 'node inspect X', 'node -p -e X', 'ruby -e -n X', 'node --import a X', 'node --input-type module -e X',
      'lua -e a X', 'lua -l a X', 'luajit -b a X', 'ruby -C /srv -e X', "perl -ne 'print' X", 'perl -p /f.pl X', 'tclsh -encoding utf-8 X', 'awk -F X p /f', "awk -v X '{print}'", 'awk -vX p',
    ], SCRIPT); // prettier-ignore
    await takenEach([
      "bash +e -c 'echo \"$1\"' sh X", 'sh +x /opt/fix.sh X', 'bash +O extglob /opt/fix.sh X', 'bash -o pipefail -eu -c /opt/fix sh X', 'bash -eo pipefail /opt/fix.sh --rcfile X', 'bash --norc -- /opt/fix.sh X', 'fish -c a X', 'sed -n -e p X', 'sed -i.bak -E s/a/b/ X', 'sed --in-place s/a/b/ X',
      'sed --line-length=5 p X', 'sed --expression=p --expression q X', 'sed -- p X', 'python3 -Bu /opt/fix.py --check-hash-based-pycs X', 'python3 -c a --host X', 'python3 -Wignore -W error /opt/fix.py X', "gawk -v a=X -F : '{print a}' /f", "gawk -va=X -F: '{print a}' /f", "awk '{print}' X",
      'php -d a=1 /opt/fix.php -r X', 'php -f /opt/fix.php X', 'pwsh -nop -File /opt/fix.ps1 -Name X', 'node --no-warnings /opt/fix.js --require X', 'node --max-old-space-size=99 /opt/fix.js X', 'lua -l a /opt/fix.lua X', 'ruby -rjson -e a X', 'perl -wMstrict -e a', 'perl -Mstrict -w -e a X', 'perl /opt/fix.pl -e X',
      'tclsh /opt/fix.tcl X', 'bash --rcfile f -c true', 'pwsh -nop -ep bypass -Command a',
    ]); // prettier-ignore
  });

  test('is no script of an interpreter that an unknown program may start, whose name is an argument more often', async () => {
    await refusedEach([
      "/opt/launch perl -0pe 's/a/X/' f", '/opt/launch perl -0777ne X', '/opt/launch bash --rcfile f -c X', '/opt/launch bash +e -c X', '/opt/launch bash -c -e X', "/opt/launch gawk --assign a=1 '{print X}'", '/opt/launch sed --line-length 5 X f', '/opt/launch lua -e a X', '/opt/launch python3 -Bc X', '/opt/launch node --eval=X',
      'perl -0777ne X', "perl -0pe 's/a/X/' f",
    ], SCRIPT); // prettier-ignore
    await takenEach([
      'systemctl restart node X',
      'kubectl get node -l X',
      'kubectl describe node --selector app=a X',
      'apt-get install python3 X',
      '/opt/launch bash -x /opt/fix.sh -c X',
      '/opt/launch sh -c \'echo "$1"\' sh X',
      "/opt/launch perl -0777 -e 'a' X",
      "/opt/launch gawk -v a=X '{print a}' /f",
    ]);
  });

  test('is no word of a program that runs scripts or fetches the package that it runs', async () => {
    await refusedEach([
      'deno eval X', 'deno run X', 'deno run --allow-read /a.ts X', 'bun run X', 'bun x X', 'bun X', 'bunx X', 'npx X', 'npx -y X', 'npm exec X', 'npm run X', 'pnpx X', 'pnpm dlx X', 'yarn dlx X', 'uvx X', 'uv run X', 'pipx run X', 'sudo npx X',
    ], /^command: \$\{…\}/); // prettier-ignore
    await takenEach(['deno run /a.ts', 'npm run build', 'npx prettier .', 'uvx ruff']);
  });

  test('is not the file that psql writes to, nor a file that names a library of mysql', async () => {
    await refusedEach(
      [
        'psql -o X',
        'psql --output X',
        'psql --output=X',
        'psql --out X',
        "psql -o '|X'",
        "psql '-o|X'",
        'psql -qo X db',
        'mysql --defaults-file=X',
        'mysql --plugin-dir X',
      ],
      SCRIPT,
    );
    await takenEach([
      'psql -d X -c select',
      'psql -o /tmp/a -d X',
      'psql --output=/tmp/a --dbname=X',
      'mysql --host=X',
    ]);
  });

  test('stands behind those first words of ip that start nothing, which ip takes abbreviated too', async () => {
    await refusedEach([
      'ip netns exec ns X', 'ip netns ex ns X', 'ip netns e ns X', 'ip n X', 'ip netns X', 'ip -b X', 'ip -batch X', 'ip --batch X', 'ip -n link netns exec X', 'ip -n X link show', 'ip vrf exec a X', 'ip X', 'ip -X link', 'ip link set eth0 xdp object X', 'ip -ba X',
    ], CLOSED); // prettier-ignore
    await takenEach([
      'ip link set X up',
      'ip -4 addr show X',
      'ip -s -d link show dev X',
      'ip address show dev X',
      'ip -j route get X',
      'ip neigh show to X',
      'ip rule list from X',
      'ip netns exec a /opt/fix',
    ]);
  });

  test('is no address of git where it could begin with the name of a program', async () => {
    await refusedEach([
      'git clone X /x', 'git clone ext::X /a', "git clone 'ext::sh -c X' /a", 'git clone exX /a', 'git clone ext:X /a', 'git clone host:X /a', 'git clone ext://a/X', 'git clone https://X', 'git clone ssh://X/a', 'git fetch X', 'git pull origin X', 'git push X main', 'git -C /x fetch X', 'git ls-remote X',
      'git remote add a X', 'git remote set-url add X', 'git submodule add X', 'git clone https://host/a X',
    ], CLOSED); // prettier-ignore
    await refusedEach(
      [
        'git push --repo=X add',
        'git clone --bundle-uri=X https://host/a',
        'git merge --strategy=X main',
        'git merge -s X main',
      ],
      SCRIPT,
    );
    await takenEach([
      'git clone https://host/X', 'git clone --depth=X https://host/X.git /srv/X', 'git clone git@host:X', 'git clone host:srv/X', 'git clone ssh://git@host/X', 'git clone file:///srv/X', 'git fetch origin refs/heads/X', 'git -C /srv/x pull origin refs/heads/X', 'git clone /srv/X /a', 'git clone ./X', 'git checkout X',
      'git remote add origin https://host/X',
    ]); // prettier-ignore
  });

  test('is not the value of a variable that says what is run or loaded, or gives a program options', async () => {
    const names = [
      '_JAVA_OPTIONS', 'JDK_JAVA_OPTIONS', 'JAVA_TOOL_OPTIONS', 'MY_JAVA_OPTIONS', 'JAVA_HOME', 'MAVEN_OPTS', 'CLASSPATH', 'OPENSSL_CONF', 'OPENSSL_MODULES', 'GIT_SSH_COMMAND', 'GIT_EXTERNAL_DIFF', 'GIT_DIR', 'PERL5LIB', 'PERLLIB', 'PERL5OPT', 'PYTHONPATH', 'PYTHONSTARTUP', 'PYTHONWARNINGS',
      'RUBYLIB', 'RUBYOPT', 'NODE_PATH', 'NODE_OPTIONS', 'npm_config_script_shell', 'LD_PRELOAD', 'LD_LIBRARY_PATH', 'LD_AUDIT', 'DYLD_INSERT_LIBRARIES', 'GCONV_PATH', 'LOCPATH', 'PAGER', 'MANPAGER', 'EDITOR', 'VISUAL', 'BASH_ENV', 'BASHOPTS', 'ENV', 'PROMPT_COMMAND', 'PS4', 'SHELL', 'SHELLOPTS', 'IFS',
      'PATH', 'LESS', 'LESSOPEN', 'SSH_ASKPASS', 'SUDO_ASKPASS', 'SSH_SK_PROVIDER', 'TERMINFO', 'TERMINFO_DIRS', 'HOME', 'XDG_CONFIG_HOME', 'KUBECONFIG', 'KUBE_EDITOR', 'DOCKER_CONFIG', 'MAKEFLAGS', 'CARGO_HOME', 'RUSTC_WRAPPER', 'GOFLAGS', 'ANSIBLE_CONFIG', 'TF_CLI_ARGS', 'PSQLRC', 'PSQL_PAGER',
      'PHPRC', 'AWKPATH', 'GTK_MODULES', 'DOTNET_STARTUP_HOOKS', 'CC', 'CXX', 'EXINIT', 'ZDOTDIR', 'AWS_CONFIG_FILE', 'TAR_OPTIONS', 'RSYNC_RSH', 'SVN_SSH', 'BROWSER',
    ]; // prettier-ignore
    await refusedEach(
      names.flatMap((name) => [`env ${name}=X /opt/fix`, `sudo ${name}=/a/X /opt/fix`]),
      PROGRAM,
    );
    await refusedEach(
      [
        'systemd-run -E LD_PRELOAD=X /opt/fix',
        'env -- PATH=X /opt/fix',
        'env LD_X=a /opt/fix',
        'systemctl set-environment PATH=X',
      ],
      PROGRAM,
    );
    await refusedEach(['systemd-run -ELD_PRELOAD=X /opt/fix', 'systemd-run --setenv=PATH=X /opt/fix'], SCRIPT);
    await takenEach(
      [
        'A',
        'LANG',
        'LC_ALL',
        'TZ',
        'HOST',
        'EVENT_NAME',
        'ALERT',
        'INSTANCE',
        'SRC',
        'AWS_REGION',
        'PGHOST',
        'TMPDIR',
        'LOG_LEVEL',
      ].map((name) => `env ${name}=X /opt/fix`),
    );
    await takenEach(['env PATH=/usr/bin NAME=X /opt/fix']);
  });
});

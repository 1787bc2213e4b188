# Reports the plays, tasks and hosts of a playbook run to the service, one JSON object a line, to a descriptor that the
# run has for this alone. The text that ansible prints is for people and is not read.
#
# Nothing of a task but its name, and nothing of a result but its status, leave this file; a failure adds the short
# message that ansible prints for it. What is reported is described in src/domain/playbooks/report.ts, which reads it.

from __future__ import annotations

import json
import os

from ansible.plugins.callback import CallbackBase

DOCUMENTATION = """
    name: gatehouse_report
    type: aggregate
    short_description: reports a run to the service that started it
    description:
      - Writes one JSON object for each event to the descriptor that SVC_REPORT_FD names.
"""

# As in src/domain/playbooks/results.ts, where all hosts and tasks are counted.
HOSTS_MAX = 10000
TASKS_MAX = 2000
# A longer text is left out as a whole: cut, it could end within a secret, which would then not be recognised.
CHARACTERS_MAX = 8000

COUNTS = ("ok", "changed", "failures", "unreachable", "skipped", "rescued", "ignored")


def bounded(text):
    text = str(text)
    if len(text) > CHARACTERS_MAX:
        return "(%d characters)" % len(text)
    # A lone surrogate stands for a byte that is no UTF-8.
    return text.encode("utf-8", "replace").decode("utf-8")


class CallbackModule(CallbackBase):
    CALLBACK_VERSION = 2.0
    CALLBACK_TYPE = "aggregate"
    CALLBACK_NAME = "gatehouse_report"
    CALLBACK_NEEDS_ENABLED = True

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self._fd = int(os.environ["SVC_REPORT_FD"]) if "SVC_REPORT_FD" in os.environ else None
        if self._fd is not None:
            # Programs that ansible starts do not get it.
            os.set_inheritable(self._fd, False)
        self._hosts = {}
        self._tasks = {}
        self._plays = 0
        self._started = set()
        self._addressed = {}
        self._begun = set()

    def _say(self, event, **fields):
        if self._fd is None:
            return
        line = json.dumps({"event": event, **fields}, ensure_ascii=False, separators=(",", ":")) + "\n"
        left = memoryview(line.encode("utf-8"))
        try:
            while left:
                left = left[os.write(self._fd, left):]
        except OSError:
            # Nobody reads any more; the run goes on.
            self._fd = None

    # Plays

    def v2_playbook_on_start(self, playbook):
        self._plays = len(playbook.get_plays())

    def v2_playbook_on_play_start(self, play):
        # Once for each batch of `serial`.
        if play._uuid not in self._started:
            self._started.add(play._uuid)
            self._say("play", name=bounded(play.get_name()))
        try:
            inventory = play.get_variable_manager()._inventory
            pattern = play.hosts or "all"
            for host in inventory.get_hosts(pattern, ignore_restrictions=True):
                self._addressed.setdefault(host.name)
            self._begun.update(host.name for host in inventory.get_hosts(pattern))
        except Exception:
            # Then no host counts as left out.
            pass

    def v2_playbook_on_no_hosts_matched(self):
        self._say("no_hosts")

    # Tasks

    def _task(self, task):
        number = self._tasks.get(task._uuid)
        if number is None:
            number = self._tasks[task._uuid] = len(self._tasks)
            self._say("task", task=number, name=bounded(task.get_name()))
        return number

    def v2_playbook_on_task_start(self, task, is_conditional):
        self._task(task)

    def v2_playbook_on_handler_task_start(self, task):
        self._task(task)

    def v2_playbook_on_cleanup_task_start(self, task):
        self._task(task)

    # Results

    def _result(self, result, status, explained=False):
        host = (getattr(result, "host", None) or result._host).get_name()
        task = self._task(getattr(result, "task", None) or result._task)
        number = self._hosts.get(host)
        if number is None:
            number = self._hosts[host] = len(self._hosts)
            if number < HOSTS_MAX:
                self._say("host", host=number, name=bounded(host))
        if number >= HOSTS_MAX or task >= TASKS_MAX:
            return
        details = getattr(result, "result", None) or result._result
        message = details.get("msg") if explained else None
        fields = {} if message in (None, "") else {"message": bounded(message)}
        self._say("result", host=number, task=task, status=status, **fields)

    def v2_runner_on_ok(self, result):
        self._result(result, "changed" if result.is_changed() else "ok")

    def v2_runner_on_skipped(self, result):
        self._result(result, "skipped")

    def v2_runner_on_failed(self, result, ignore_errors=False):
        task = getattr(result, "task", None) or result._task
        self._result(result, "ignored" if ignore_errors else "rescued" if is_rescued(task) else "failed", True)

    def v2_runner_on_unreachable(self, result):
        task = getattr(result, "task", None) or result._task
        self._result(result, "ignored" if task.ignore_unreachable else "unreachable", True)

    # The end

    def v2_playbook_on_stats(self, stats):
        for host in sorted(stats.processed):
            counts = stats.summarize(host)
            self._say("total", host=bounded(host), **{name: counts[name] for name in COUNTS})
        left = [host for host in self._addressed if host not in self._begun and host not in stats.processed]
        self._say("end", plays_left=max(0, self._plays - len(self._started)), hosts_left=len(left))


def is_rescued(task):
    # Whether the task is in the part of a block whose failures go on in `rescue`.
    inner, outer = task, getattr(task, "_parent", None)
    while outer is not None:
        part = {getattr(each, "_uuid", None) for each in getattr(outer, "block", None) or ()}
        if getattr(outer, "rescue", None) and inner._uuid in part:
            return True
        inner, outer = outer, getattr(outer, "_parent", None)
    return False

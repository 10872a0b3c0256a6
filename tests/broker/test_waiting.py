"""Promise 5: what is said while a request waits, and how it is taken back: time-out, Ctrl-C, expiry, cancel."""
import os
import pty
import re
import signal

from support.flow import finish, requested
from support.process import wait_until
from support.scenario import ask, reset_arguments, wait_done

UUID = "1b7c2f0e-9a4d-4d3e-8f55-2f1c0b6e9a71"


def reasons(control, request: str) -> list[str]:
    """What a request waits for now, as its guard record says."""
    guards = [fact.table() for fact in control.facts(request, "guard")]
    return [reason.text.decode() for guard in guards[-1:] for reason in guard.reasons or [] if reason.untilMs is None]


def no_engine(flow) -> str:
    return f"no engine is running for control topic '{flow.control_topic}': the request stays until one starts"


def test_cancel(flow, control, orders, engine):
    unknown = flow.run("cancel", UUID)
    assert (unknown.code, unknown.out) == (1, "")
    assert unknown.err == f"no request {UUID} on control topic '{flow.control_topic}'\n"
    request = ask(flow, [orders.group()], orders.topic)
    assert wait_done(control, request) == "completed"
    for more in ([], ["-q"]):
        late = flow.run("cancel", request, *more)
        assert (late.code, late.out, late.err) == (1, "", f"reset {request} is done already: completed\n")
    with orders.world.consumer(busy := orders.group(), orders.topic) as consumer:
        consumer.wait_assigned(3)
        waits = ask(flow, [busy], orders.topic, "--when-stopped")
        assert flow.ok("cancel", waits) == f"reset {waits} cancelled\n"
        again = flow.run("cancel", waits)
        assert (again.code, again.out) == (1, "")
        assert re.fullmatch(rf"reset {waits} is done already: cancelled by \S+\n", again.err), again
    late = flow.run("cancel", request, "-o", "json")
    assert (late.code, late.json()["outcome"]) == (1, "completed")
    assert control.outcomes(request) == ["completed"]


def test_an_expired_request_is_never_carried_out(flow, world, control, orders, engine):
    group = orders.group()
    with world.consumer(group, orders.topic) as consumer:
        consumer.wait_assigned(3)
        request = ask(flow, [group], orders.topic, "--when-stopped", "--expire-after", "2s")
        assert wait_done(control, request) == "expired"
        done = flow.run(*reset_arguments([group], orders.topic, "--wait", "--expire-after", "1s"))
        assert done.code == 1 and re.search(rf"^reset {requested(done.out)} expired: ", done.err, re.MULTILINE), done
    assert world.commit_values(group) == orders.values(20)


def read_until(pipe, line: str) -> list[str]:
    lines = [pipe.readline()]
    while lines[-1] != line:
        assert lines[-1], lines
        lines.append(pipe.readline())
    return lines


def test_no_engine_is_said_on_stderr(flow, world, control, orders):
    group = orders.group()
    assert f"no engine is running for control topic '{flow.control_topic}'\n" == flow.run("status").err
    appended = flow.run(*reset_arguments([group], orders.topic))
    assert (appended.code, appended.err) == (0, no_engine(flow) + "\n")
    done = flow.run(*reset_arguments([group], orders.topic, "--wait", "--timeout", "2s"))
    assert done.code == 3, done
    request = requested(done.out)
    assert done.err.splitlines()[-1] == f"still waiting: {no_engine(flow)}; flow cancel {request}"
    assert len(control.facts(request, "request")) == 1


def test_the_time_out_leaves_the_request_and_says_what_it_waits_for(flow, world, control, orders, engine):
    group = orders.group()
    with world.consumer(group, orders.topic) as consumer:
        consumer.wait_assigned(3)
        done = flow.run(*reset_arguments([group], orders.topic, "--wait", "--timeout", "3s"))
        request = requested(done.out)
        (why,) = reasons(control, request)
        (member,) = world.describe(group)["members"]
        assert why == f"{group} has 1 member(s): {member['client']} at {member['host'].lstrip('/')}"
        assert done.code == 3, done
        assert done.out == f"reset requested for group '{group}': {request}\n"
        assert done.err.splitlines()[-1] == f"still waiting: {why}; flow cancel {request}"
    assert wait_done(control, request) == "completed"


def test_ctrl_c_leaves_the_request_and_says_how_to_cancel_it(flow, world, control, orders, engine):
    group = orders.group()
    with world.consumer(group, orders.topic) as consumer:
        consumer.wait_assigned(3)
        waiting = flow.start(*reset_arguments([group], orders.topic, "--wait"))
        request = wait_until(lambda: control.facts(kind="request"), 10, "it is asked for")[0].request
        (why,) = wait_until(lambda: reasons(control, request), 10, "the engine has taken it up")
        assert waiting.stdout.readline() == f"reset requested for group '{group}': {request}\n"
        read_until(waiting.stderr, f"waiting: {why}\n")
        waiting.send_signal(signal.SIGINT)
        done = finish(waiting, 10)
        assert (done.code, done.out, done.err) == (3, "", f"still waiting: {why}; flow cancel {request}\n")
    assert wait_done(control, request) == "completed"


def test_a_request_behind_another_names_it(flow, world, control, orders, engine):
    busy, shared = orders.groups(2)
    with world.consumer(busy, orders.topic) as consumer:
        consumer.wait_assigned(3)
        first = ask(flow, [busy, shared], orders.topic, "--when-stopped")
        wait_until(lambda: reasons(control, first), 10, "the engine has taken up the first one")
        done = flow.run(*reset_arguments([shared], orders.topic, "--wait", "--timeout", "3s"))
        assert done.code == 3, done
        second = requested(done.out)
        why = (f"behind {first}, which names one of its groups and came first; "
               f"see: flow history {first}")
        assert done.err.splitlines()[-2:] == [f"waiting: {why}", f"still waiting: {why}; flow cancel {second}"]
        assert world.commit_values(shared) == orders.values(20)
    assert [wait_done(control, request) for request in (first, second)] == ["completed"] * 2


def test_in_a_pipe_each_change_is_a_line(flow, world, control, orders, engine):
    group = orders.group()
    with world.consumer(group, orders.topic) as consumer:
        consumer.wait_assigned(3)
        waiting = flow.start(*reset_arguments([group], orders.topic, "--wait"))
        request = wait_until(lambda: control.facts(kind="request"), 10, "it is asked for")[0].request
        (one,) = wait_until(lambda: reasons(control, request), 10, "the engine has taken it up")
        with world.consumer(group, orders.topic) as second:
            second.wait_assigned(1)
            (two,) = wait_until(lambda: [why for why in reasons(control, request) if " 2 member(s)" in why], 10,
                                "the engine has seen the second consumer")
            lines = read_until(waiting.stderr, f"waiting: {two}\n")
    done = finish(waiting, 30)
    assert done.code == 0, done
    lines += done.err.splitlines(keepends=True)
    assert f"waiting: {one}\n" in lines and all(line.startswith("waiting: ") for line in lines), lines
    assert all(line != after for line, after in zip(lines, lines[1:])), lines
    assert world.committed(group) == orders.at(0)


def screen(written: str) -> list[str]:
    """The lines that a terminal shows after it was sent this; a line that is written over leaves what it must not."""
    lines = [""]
    for part in re.findall(r"\r\n|\r\x1b\[K|[^\r\x1b]+|.", written, re.DOTALL):
        if part == "\r\n":
            lines.append("")
        elif part == "\r\x1b[K":
            lines[-1] = ""
        else:
            lines[-1] += part
    return lines


class Watcher:
    """A terminal of 80 columns that a command has for its stderr."""

    def __init__(self, flow, *arguments: str):
        self._terminal, theirs = pty.openpty()
        self.process = flow.start(*arguments, env={"TERM": "xterm"}, stderr=theirs)
        os.close(theirs)
        self.written = ""

    def read(self) -> str:
        """What was written next; "" at the end."""
        try:
            more = os.read(self._terminal, 65536).decode()
        except OSError:
            more = ""  # how Linux says that nobody writes there any more
        self.written += more
        return more

    def finish(self) -> tuple[int, str]:
        while self.read():
            pass
        os.close(self._terminal)
        done = finish(self.process, 30)
        return done.code, done.out


def test_on_a_terminal_one_line_is_written_over(flow, world, control, orders, engine):
    group = orders.group()
    with world.consumer(group, orders.topic) as consumer:
        consumer.wait_assigned(3)
        watcher = Watcher(flow, *reset_arguments([group], orders.topic, "--wait"))
        while len(re.findall(r"\[\d+s\] waiting: group", watcher.written)) < 3:
            assert watcher.read(), watcher.written
        (shown,) = screen(watcher.written)
        (why,) = reasons(control, control.facts(kind="request")[0].request)
        assert re.sub(r"^\[\d+s\] ", "", shown) == f"waiting: {why}"[:len(shown) - shown.index("waiting")], shown
        assert len(shown) == 79, shown  # cut: a line that wraps could not be written over
    code, out = watcher.finish()
    assert code == 0
    assert out.splitlines()[-1] == f"{group}: 3 partition(s) of '{orders.topic}' to earliest"
    assert screen(watcher.written) == [""], watcher.written
    told = re.findall(r"\r\x1b\[K(\[[^\r]*)", watcher.written)
    assert len(set(told)) == len(told), told


def test_ctrl_c_on_a_terminal_leaves_its_last_word_alone(flow, world, control, orders, engine):
    group = orders.group()
    with world.consumer(group, orders.topic) as consumer:
        consumer.wait_assigned(3)
        watcher = Watcher(flow, *reset_arguments([group], orders.topic, "--wait"))
        while " waiting: " not in watcher.written:
            assert watcher.read(), watcher.written
        watcher.process.send_signal(signal.SIGINT)
        code, out = watcher.finish()
        request = requested(out)
        (why,) = reasons(control, request)
    assert code == 3
    assert screen(watcher.written) == [f"still waiting: {why}; flow cancel {request}", ""], watcher.written


def test_cancel_without_an_engine_stays(flow, world, control, orders, new_engine):
    group = orders.group()
    request = ask(flow, [group], orders.topic)
    done = flow.run("cancel", request, "--timeout", "2s")
    assert (done.code, done.out) == (3, ""), done
    first, *_, last = done.err.splitlines()
    assert first == no_engine(flow)
    assert last == f"the cancel of {request} stays, but no engine has taken it up yet (none is running)"
    assert len(control.facts(request, "cancel")) == 1
    new_engine().start()
    assert wait_done(control, request) == "cancelled"
    assert world.commit_values(group) == orders.values(20)


def test_cancel_prints_what_it_is_told_to(flow, world, control, orders, engine):
    group = orders.group()
    with world.consumer(group, orders.topic) as consumer:
        consumer.wait_assigned(3)
        text, quiet, document = (ask(flow, [group], orders.topic, "--when-stopped") for _ in range(3))
        done = flow.run("cancel", text)
        assert (done.code, done.out) == (0, f"reset {text} cancelled\n"), done
        done = flow.run("cancel", quiet, "-q")
        assert (done.code, done.out) == (0, f"{quiet}\n"), done
        done = flow.run("cancel", document, "-o", "json")
        assert (done.code, done.out.count("\n")) == (0, 1), done
        told = done.json()
        assert {name: told[name] for name in ("id", "phase", "outcome", "control_topic", "groups")} == {
            "id": document, "phase": "closed", "outcome": "cancelled", "control_topic": flow.control_topic,
            "groups": [group]}
        assert told["cancel"]["asked_by"] and told["cancel"]["asked_at"]
    assert [control.outcomes(request) for request in (text, quiet, document)] == [["cancelled"]] * 3
    assert world.commit_values(group) == orders.values(20)

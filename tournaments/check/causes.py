"""From trouble with the bot to the failed step, and to what its author can do about it.

PROTOCOL.md holds both tables too; a test compares them.
"""

from __future__ import annotations

import re
from pathlib import Path

import msgspec

from malice.protocol.codec import UNREADABLE, excerpt
from malice.protocol.errors import MaliceError
from malice.referee.connection import STRAY_LINES
from malice.referee.records import Isolation
from malice.tournaments.check.report import Finding
from malice.tournaments.check.seat import Trouble
from malice.tournaments.entries import programs
from malice.tournaments.entries.bots import Bot

FLUSH: dict[str, str] = {
    "Python": "`print(..., flush=True)`",
    "JavaScript (Node)": 'nothing: `process.stdout.write(line + "\\n")`',
    "C": "`fflush(stdout)`, or once at the start `setvbuf(stdout, NULL, _IOLBF, BUFSIZ)`",
    "C++": "`std::cout << line << std::endl`",
    "Rust": "`stdout.flush()?` (of `std::io::Write`)",
    "Go": "nothing with `os.Stdout`; `w.Flush()` with a `bufio.Writer`",
    "Java": "nothing with `System.out.println`; `out.flush()` with a writer of your own",
    "C#": "nothing with `Console.WriteLine`; `Console.Out.Flush()` if you replaced the writer",
    "Ruby": "once `$stdout.sync = true`",
    "Perl": "once `$| = 1`",
    "Lua": '`io.stdout:flush()`, or once `io.stdout:setvbuf("no")`',
    "Shell": "nothing with `echo`; `jq --unbuffered`, `sed -u`, `grep --line-buffered`",
}
"""By language: the call that sends an answer off."""

NAMES = {
    **{language.lower(): language for language in FLUSH},
    **dict.fromkeys(
        ("javascript", "js", "node", "nodejs", "typescript", "ts", "mjs", "bun", "deno"), "JavaScript (Node)"
    ),
    **dict.fromkeys(("cpp", "cxx", "cc", "g++", "clang++"), "C++"),
    **dict.fromkeys(("csharp", "cs", "dotnet", "mono"), "C#"),
    **dict.fromkeys(("sh", "bash", "dash", "zsh"), "Shell"),
    **dict.fromkeys(("py", "pypy"), "Python"),
    **dict.fromkeys(("gcc", "clang"), "C"),
    "rb": "Ruby",
    "pl": "Perl",
    "rs": "Rust",
    "golang": "Go",
    "luajit": "Lua",
    "jar": "Java",
}
"""Lower-case words of manifests, names of programs and suffixes of files, and the language of each."""

WHAT_TO_DO: tuple[tuple[str, str, str], ...] = (
    (
        "crash",
        "the bot cannot be started: …",
        "look at the command in `bot.toml`: is the program there, and executable?",
    ),
    (
        "crash",
        "the bot exited with status …",
        "the bot has an error: read its standard error, shown with the game."
        " Status 0 means that it left its loop too early",
    ),
    (
        "crash",
        "…killed by signal …",
        "SIGSEGV and SIGABRT are bugs in the bot; SIGKILL often means that the system ran out of memory",
    ),
    (
        "crash",
        "the bot closed its output, and its process lives on",
        "do not close or redirect standard output",
    ),
    ("crash", "the bot closed its input, and its process lives on", "read until `bye`"),
    (
        "timeout",
        "no answer to … within … ms (did you flush your output? do you read all of the input first?)",
        "flush after each answer, and read line by line: the input ends only after `bye`. If you do both, start faster",
    ),
    (
        "timeout",
        "no answer to … within … ms (it had answered … before…)",
        "think less: the clock is in every `move`. If the bot hangs, its last messages and standard error say where",
    ),
    (
        "timeout",
        "no answer to … within … ms (the last line has no newline)",
        "end each answer with `\\n`, then flush",
    ),
    (
        "timeout",
        "no answer to … within … ms (it came later)",
        "think less; the margin is for delays of the machine, not for the bot",
    ),
    (
        "timeout",
        "no answer to … within … ms of CPU time (it still thinks)",
        "think less; threads and children count too",
    ),
    (
        "timeout",
        "no answer to … within … ms of CPU time (it came later)",
        "think less; the margin is for delays of the machine, not for the bot",
    ),
    (
        "timeout",
        "no answer to … within … ms (it has run out of memory)",
        "use less memory: the tournament's `memory_mb` covers the process and its children",
    ),
    (
        "timeout",
        "no answer to … within … ms (it does not read its input)",
        "read one line for each line you write",
    ),
    (
        "protocol",
        "expected the id …, got an answer without id: …",
        "put the `id` of the request into each answer",
    ),
    ("protocol", "expected the number … as id, got: …", "copy the `id` unchanged, as a number"),
    (
        "protocol",
        "expected the id …, got …, which was answered or ran out before",
        "send one answer for each request: is an old one still in a queue?",
    ),
    (
        "protocol",
        "expected the id …, got …",
        "copy the `id` from the request that you answer; do not keep your own count",
    ),
    (
        "protocol",
        "expected one answer to each request, got another line: …",
        "write one answer for each request, and nothing else",
    ),
    (
        "protocol",
        "object missing required field `move`, got: …",
        "put a field `move` into the answer to a `move` request",
    ),
    (
        "protocol",
        "expected `…`, got `…` - at `$.…`, got: …",
        "give the field the type that PROTOCOL.md lists for it",
    ),
    (
        "protocol",
        "expected `str` of length <= 100 - at `$.…`, got: …",
        "choose a shorter name or version",
    ),
    (
        "protocol",
        "expected protocol …, the bot chose …",
        "answer with a version in the range that `hello` offers",
    ),
    (
        "protocol",
        "…not JSON, and no answer to …: did you print to stdout?",
        "print to standard error; if the line was meant as the answer, use a JSON library for it",
    ),
    (
        "protocol",
        "… lines (… bytes) that are not JSON: print what is not an answer to stderr; the last one: …",
        "print everything but answers to standard error",
    ),
    (
        "protocol",
        "expected lines of at most 65536 bytes, got …: …",
        "write shorter notes, and a line feed after each answer",
    ),
    (
        "protocol",
        "expected one line for each request, got … bytes at once: …",
        "write one line for each request, and read while you write",
    ),
    (
        "protocol",
        "expected UTF-8, got the byte … as number … of the line: …",
        "write UTF-8, or let your JSON library escape everything but ASCII: `\\u00e9` for an é",
    ),
    ("illegal", "expected one of …; got: …", "copy a string from `legal` unchanged"),
)
"""Code and sentence of a verdict, where … matches anything, and the advice to the bot's author."""


def give_hint(code: str, sentence: str) -> str:
    for kind, pattern, advice in WHAT_TO_DO:
        if kind == code and re.fullmatch(".*".join(map(re.escape, pattern.split("…"))), sentence, re.DOTALL):
            return advice
    return "PROTOCOL.md lists what the referee may say"


def find_language(bot: Bot) -> str | None:
    """The language of a bot, by its manifest or else by its command line; None if neither shows it."""
    if bot.manifest.language:
        return NAMES.get(bot.manifest.language.lower())
    for word in bot.command[::-1]:
        path = Path(word)
        for name in (path.suffix[1:], re.sub("[0-9.]+$", "", path.name)):
            if name.lower() in NAMES:
                return NAMES[name.lower()]
    return None


def explain_flush(bot: Bot) -> str:
    language = find_language(bot)
    if language is None:
        return "flush your output after every line; PROTOCOL.md names the call in many languages"
    return f"flush your output after every line; in {language}: {FLUSH[language]}"


SHOWN_ACTIONS = 12
NOT_JSON = re.compile(r"\bnot? JSON\b")
"""Part of the referee's sentence when a line that is not JSON came instead of an answer."""
READS_ALL = (
    "if it does, read line by line and answer each line: a bot that first reads its whole input"
    " (`sys.stdin.read()`) waits for ever, because the input ends only after `bye`"
)
BARE = "answer every line but `bye`: a line that is not a `move` gets the bare id"
TO_STDERR = f"print everything but answers to standard error; line {STRAY_LINES + 1} of a game forfeits it"


class Failed(MaliceError):
    """A part of the examination failed its own step."""

    def __init__(self, finding: Finding) -> None:
        super().__init__(finding.cause)
        self.finding = finding


def find_step(trouble: Trouble, part: str) -> str:
    """The step that failed during `part`, which is the name of a step too."""
    silence = trouble.silence
    if is_stray(trouble):
        return "stdout"
    if is_broken_answer(trouble):
        return "hello" if part == "starts" else "answers"
    if silence is not None and _is_unflushed(trouble):
        return "flushes"
    if part == "starts":
        return "hello" if trouble.code == "protocol" else "starts"
    if trouble.code == "protocol" or "no newline" in trouble.sentence:
        return "answers"
    if trouble.code == "timeout":
        slow = silence is not None and (silence.late or silence.busy)
        return "clock" if trouble.what == "move" or slow else "answers"
    return part


def make_finding(trouble: Trouble, bot: Bot, where: str) -> Finding:
    return Finding(
        cause=f"{trouble.code}: {_sentence(trouble)}",
        expected=_expected(trouble),
        hint=_hint(trouble, bot),
        where=where,
        lines=(*trouble.lines, *_list_later_events(trouble)),
        exit=trouble.exit,
        stderr=trouble.stderr,
    )


def explain_invalid_json(line: bytes) -> str:
    try:
        msgspec.json.decode(line)
    except RecursionError:
        return "it is nested too deeply"
    except UNREADABLE as error:
        return str(error)
    return "it is not an object"


def is_stray(trouble: Trouble) -> bool:
    """Whether lines that were not meant as answers are the trouble."""
    return _is_not_json(trouble) and not is_broken_answer(trouble)


def is_broken_answer(trouble: Trouble) -> bool:
    """Whether a line came that was meant as the answer, but is not JSON."""
    return _is_not_json(trouble) and (trouble.stray or b"").lstrip().startswith(b"{")


def _is_not_json(trouble: Trouble) -> bool:
    """Whether a line that is not JSON came instead of the answer."""
    return trouble.stray is not None and NOT_JSON.search(trouble.sentence) is not None


def _is_unflushed(trouble: Trouble) -> bool:
    """Whether an answer waited in a buffer: it came when the input was closed, or never came."""
    silence = trouble.silence
    assert silence
    if silence.flushed:
        return True
    never = trouble.what == "hello" and trouble.silent
    return never and not (silence.unread or silence.busy or silence.late)


def _sentence(trouble: Trouble) -> str:
    """The referee's sentence, with the finding of the examination in place of the referee's guess."""
    sentence, silence = trouble.sentence, trouble.silence
    if is_broken_answer(trouble):
        assert trouble.stray is not None
        return f"no answer to {trouble.what}, but a line that is not JSON: {explain_invalid_json(trouble.stray)}"
    if silence is None or not trouble.silent:
        return sentence
    sentence = sentence.partition(" (")[0]
    if silence.late:
        return f"{sentence}; something came {silence.late_ms:.0f} ms later"
    if silence.unread:
        return f"{sentence}; it has not even read the request"
    if silence.busy:
        return f"{sentence}; it is still thinking"
    if silence.flushed:
        waited = "it had waited in a buffer"
        if trouble.what == "hello":
            waited += ", or the bot waited for the end of the input"
        return f"{sentence}; something came only when its input was closed: {waited}"
    return f"{sentence}; it has read the request, is idle, and sends nothing"


def _expected(trouble: Trouble) -> str:
    return f"one line within {trouble.limit_ms} ms of `{trouble.what}`: {_describe_answer(trouble)}"


def _describe_answer(trouble: Trouble) -> str:
    if trouble.what == "hello":
        return '{"id":1,"protocol":1}'
    if trouble.what == "move":
        return _describe_move(trouble.legal)
    return '{"id":ID}'


def _describe_move(legal: tuple[str, ...]) -> str:
    some = ", ".join(legal[:SHOWN_ACTIONS]) + (", ..." if len(legal) > SHOWN_ACTIONS else "")
    return '{"id":ID,"move":ACTION}' + (f" with one of the actions {some}" if some else "")


def _hint(trouble: Trouble, bot: Bot) -> str:
    silence = trouble.silence
    evidence = f"{trouble.sentence}\n{trouble.stderr}" if trouble.code == "crash" else trouble.sentence
    if limit := programs.explain_limits(evidence, trouble.isolation, Isolation().memory_mb):
        return limit
    if is_broken_answer(trouble):
        return "write each answer with a JSON library, in UTF-8, on one line"
    if is_stray(trouble):
        return TO_STDERR if trouble.what == "move" else f"{TO_STDERR}; {BARE}"
    if silence is None or not trouble.silent:
        return give_hint(trouble.code, trouble.sentence)
    if _is_unflushed(trouble):
        return f"{explain_flush(bot)}; {READS_ALL}" if trouble.what == "hello" else explain_flush(bot)
    if silence.late or silence.busy:
        if trouble.what == "move":
            return "think less: the `clock` of every `move` says how much time is left"
        return "do less before this answer, or ask for a larger init_ms"
    if silence.unread:
        return "read your input line by line, one answer for each line, and start faster than init_ms"
    if trouble.what == "move":
        return f"find out what it waits for: a lock, another program, more input? {explain_flush(bot)}"
    return f"{BARE}; {explain_flush(bot)}"


def _list_later_events(trouble: Trouble) -> tuple[str, ...]:
    """What happened after the deadline, as lines of a dialogue."""
    silence = trouble.silence
    if silence is None:
        return ()
    if silence.late:
        return (f"* {silence.late_ms:.0f} ms later", f"< {excerpt(silence.late)}")
    if silence.flushed:
        return ("* its input is closed", f"< {excerpt(silence.flushed)}")
    return ("* nothing more comes",)

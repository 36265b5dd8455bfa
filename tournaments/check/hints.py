"""What to do about a finding: the flush call of each language, and advice on each sentence of the referee.

PROTOCOL.md holds both tables too; a test compares them.
"""

from __future__ import annotations

import re
from pathlib import Path

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
    """Return the advice on a verdict."""
    for kind, pattern, advice in WHAT_TO_DO:
        if kind == code and re.fullmatch(".*".join(map(re.escape, pattern.split("…"))), sentence, re.DOTALL):
            return advice
    return "PROTOCOL.md lists what the referee may say"


def find_language(bot: Bot) -> str | None:
    """Return the language of a bot, by its manifest or else by its command line; None if neither shows it."""
    if bot.manifest.language:
        return NAMES.get(bot.manifest.language.lower())
    for word in bot.command[::-1]:
        path = Path(word)
        for name in (path.suffix[1:], re.sub("[0-9.]+$", "", path.name)):
            if name.lower() in NAMES:
                return NAMES[name.lower()]
    return None


def explain_flush(bot: Bot) -> str:
    """Return how a bot flushes its answers."""
    language = find_language(bot)
    if language is None:
        return "flush your output after every line; PROTOCOL.md names the call in many languages"
    return f"flush your output after every line; in {language}: {FLUSH[language]}"

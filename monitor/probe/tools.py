"""The tools that a probe offers: those of a coding agent, as large as such an agent's are."""

from typing import Any

from breaker.wire.question import Tool


def _text(meaning: str, **more: object) -> dict[str, Any]:
    return {"type": "string", "description": meaning, **more}


def _count(meaning: str, low: int, high: int) -> dict[str, Any]:
    return {"type": "integer", "description": meaning, "minimum": low, "maximum": high}


def _flag(meaning: str) -> dict[str, Any]:
    return {"type": "boolean", "description": meaning}


def _many(meaning: str, item: dict[str, Any]) -> dict[str, Any]:
    return {"type": "array", "description": meaning, "items": item}


def _object(required: list[str], **properties: dict[str, Any]) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}


_PATH = "Where it is, counted from the top folder of the repository, with forward slashes and without a leading one."
_EDIT = _object(
    ["before", "after"],
    before=_text("The passage as it stands now, with enough lines around it that it occurs only once."),
    after=_text("The passage as it shall stand; an empty text removes it."),
)

TOOLS: tuple[Tool, ...] = (
    Tool(
        name="read_file",
        description="Shows a text file with numbered lines. Long files come in parts: ask again from a later line. "
        "Use this before any change, since a change is only accepted for a file that has been shown.",
        schema=_object(
            ["path"],
            path=_text(_PATH),
            first_line=_count("The line to begin with; 1 is the top of the file.", 1, 1_000_000),
            line_count=_count("How many lines to show.", 1, 2_000),
        ),
    ),
    Tool(
        name="write_file",
        description="Creates a file with the given content, or replaces the whole of an old one. Folders on the way "
        "are created too. For a change inside a long file take edit_file, which sends less.",
        schema=_object(
            ["path", "content"],
            path=_text(_PATH),
            content=_text("The whole content, in UTF-8, with a newline at its end."),
            executable=_flag("Whether the file may be run as a program; left out, an old file keeps what it had."),
        ),
    ),
    Tool(
        name="edit_file",
        description="Changes passages of one file. All passages are found first and then all are changed, so an edit "
        "either happens as a whole or not at all; a passage that occurs twice, or nowhere, refuses the lot.",
        schema=_object(["path", "edits"], path=_text(_PATH), edits=_many("The changes, in any order.", _EDIT)),
    ),
    Tool(
        name="list_folder",
        description="Lists what a folder holds: names, sizes, and for folders the number of entries. Hidden entries "
        "and those that version control ignores are left out unless they are asked for.",
        schema=_object(
            ["path"],
            path=_text("The folder, counted from the top of the repository; a single dot is the top itself."),
            depth=_count("How many levels down to go.", 1, 6),
            everything=_flag("Show hidden and ignored entries as well."),
        ),
    ),
    Tool(
        name="search_text",
        description="Finds lines that match a regular expression, with the file, the number of the line and some lines "
        "around each. Binary files are passed over. The first two hundred finds are shown, with the total.",
        schema=_object(
            ["pattern"],
            pattern=_text("The expression; the search looks at one line at a time."),
            within=_text("A folder or a file to stay in; left out, the whole repository is searched."),
            names=_text("Only files whose names match this pattern with stars, such as *.py or test_*.ts."),
            ignore_case=_flag("Take small and capital letters for the same."),
            around=_count("How many lines to show before and after each find.", 0, 20),
        ),
    ),
    Tool(
        name="run_command",
        description="Runs a command in a shell at the top of the repository and gives its output, errors included, and "
        "its exit status. It has no terminal and can't be asked anything, so give all answers as options.",
        schema=_object(
            ["command"],
            command=_text("The command line."),
            limit_s=_count("After so many seconds it is ended and what it wrote so far is shown.", 1, 900),
            purpose=_text("In a few words, why: shown to the person who watches, and asked about if it looks risky."),
            background=_flag("Let it run on and come back at once with a number by which to ask for its output."),
        ),
    ),
    Tool(
        name="run_tests",
        description="Runs the project's tests as its own configuration says, and gives only what failed, each with the "
        "assertion, the values and the lines around it, followed by the totals and the slowest five.",
        schema=_object(
            [],
            paths=_many("Files or folders to run; left out, all.", _text("One of them.")),
            name=_text("Only tests with this in their name."),
            stop_at_first=_flag("End at the first failure."),
        ),
    ),
    Tool(
        name="show_changes",
        description="Shows what differs from the last commit, or between two commits, as a unified difference. Large "
        "differences are cut by file, each with the number of lines left out, and can be asked for one by one.",
        schema=_object(
            [],
            old=_text("The commit to compare with; left out, the last one."),
            new=_text("The commit to compare to; left out, the files as they are now."),
            paths=_many("Only these.", _text("A file or folder.")),
        ),
    ),
    Tool(
        name="fetch_page",
        description="Fetches a public page and gives its text with the links numbered. Pages that want a login are not "
        "read, and nothing is ever sent besides the address itself.",
        schema=_object(
            ["address"],
            address=_text("The address, with its scheme.", pattern="^https?://"),
            part=_count("Which part of a long page, counted from 1.", 1, 100),
        ),
    ),
    Tool(
        name="keep_plan",
        description="Writes down the steps that are left, so that they aren't lost when the session is long. Send the "
        "whole list each time; exactly one step is under way at any moment, and finished ones stay in it.",
        schema=_object(
            ["steps"],
            steps=_many(
                "The steps in their order.",
                _object(
                    ["what", "state"],
                    what=_text("What is to be done, as an order, in one line."),
                    state=_text("How far it is.", enum=["waiting", "under_way", "finished", "dropped"]),
                    proof=_text("For a finished step: what was seen that shows it."),
                ),
            ),
        ),
    ),
    Tool(
        name="ask_person",
        description="Asks the person who gave the task. Only for what can't be found out and can't be undone: the "
        "session waits until there is an answer.",
        schema=_object(
            ["question"],
            question=_text("One question that can be answered in a sentence."),
            choices=_many("Two to five answers to choose from, where there are such.", _text("An answer.")),
        ),
    ),
)

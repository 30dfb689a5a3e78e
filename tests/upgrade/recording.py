"""Records what the plugins of a tree do in scenarios.py, and what they declare, for test_upgrade.py.

By hand, with a tree that has been released, or the one before a rebuild, in a folder of its own:

    git worktree add ../before COMMIT
    .venv/bin/python tests/upgrade/recording.py ../before
    git worktree remove ../before

Where a sentence or a state file is changed on purpose, record the current tree (.). The difference in git is
what users will see of it.
"""

import hashlib
import json
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

from playing import Player

HERE = Path(__file__).parent
RUNS = HERE / "runs"
HELP, DECLARED, EXPECTED = HERE / "help.json", HERE / "declared.json", HERE / "expected.json"


def steps(scenario):
    """The runs of a scenario: number, options besides, and the step whose state each finds, None: none."""
    last = scenario["count"] - 1
    yield from ((number, (), number - 1 if number else None) for number in range(last + 1))
    yield from ((last, words, last - 1 if last else None) for words in scenario["views"])


def record(play, name, scenario):
    """What the runs of a scenario come to. Of the state only what the step has changed is kept."""
    recorded, states = [], []
    for number, words, after in steps(scenario):
        before = {} if after is None else states[after]
        answer = play(name, number, words, before)
        states.append(answer["state"])
        assert before.keys() <= answer["state"].keys(), f"{name} has removed a file of its state"
        recorded.append({
            "command": shlex.join([*scenario["commands"][number], *words]),
            "status": answer["status"],
            "output": answer["output"].splitlines(keepends=True),
            "state": changed(answer["state"], before),
        })  # fmt: skip
        last = scenario["count"] - 1
        if words and answer["state"] == states[last]:
            recorded[-1]["state"] = f"as run {last}"
    return recorded


def changed(state, before):
    """The files that are new or others."""
    return {file: one for file, one in state.items() if file not in before or one != before[file]}


def replayed(recorded, scenario):
    """The recorded steps, each with the state that it finds and that it leaves, all files."""
    states = []
    for (number, words, after), step in zip(steps(scenario), recorded, strict=True):
        before = {} if after is None else states[after]
        own = step["state"]
        states.append(states[int(own.split()[-1])] if isinstance(own, str) else before | own)
        yield number, words, step, before, states[-1]


def written(recorded):
    """JSON with a line for each line of output and each file, so that a difference can be read."""
    text = []
    for step in recorded:
        parts = []
        for name, value in step.items():
            if isinstance(value, list) and name == "output":
                inner = ",\n".join(f"   {json.dumps(line)}" for line in value)
                parts.append(f'  "{name}": [\n{inner}\n  ]')
            elif isinstance(value, dict) and value:
                inner = ",\n".join(f"   {json.dumps(key)}: {json.dumps(one)}" for key, one in value.items())
                parts.append(f'  "{name}": {{\n{inner}\n  }}')
            else:
                parts.append(f'  "{name}": {json.dumps(value)}')
        text.append(" {\n" + ",\n".join(parts) + "\n }")
    return "[\n" + ",\n".join(text) + "\n]\n"


def declared(tree):
    """What the plugins of a tree declare, as JSON."""
    command = [sys.executable, HERE / "declared.py", tree]
    return json.loads(subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout)


def help_of(plugin):
    """The help of a plugin, which leaves with 3, in pieces: an option each, by its flags."""
    done = subprocess.run([sys.executable, plugin, "--help"], capture_output=True, text=True, check=False)
    text = f"{done.stdout}{done.stderr}(exit status {done.returncode})\n"
    pieces = re.split(r"(?m)^(?=  -)", text)
    return {re.split(r"  +|\n", piece.strip())[0]: piece for piece in pieces}


def helps(tree):
    """Digests of the help of all plugins: of each option, with the title of a group that follows it."""
    return {
        plugin.name: {flags: shortened(piece.encode()) for flags, piece in help_of(plugin).items()}
        for plugin in sorted((tree / "plugins").glob("check_*"))
    }


def shortened(octets):
    """A digest that will do where nobody means harm."""
    return hashlib.sha256(octets).hexdigest()[:12]


def digest(path):
    """Of a file, or of all files in a folder."""
    files = sorted(one for one in path.rglob("*") if one.is_file()) if path.is_dir() else [path]
    return shortened(b"".join(one.read_bytes() for one in files))


def expected(tree):
    """Digests of what tests/recorded expects of its recordings, and of these: by the path of the output."""
    folder = tree / "tests" / "recorded"
    found = {}
    for path in sorted([*folder.glob("**/expected/*.txt"), *folder.glob("documented/*.txt")]):
        place = path.parents[1]
        inputs = [place / f"{path.stem}{end}" for end in (".json", ".log", "")]
        recording = next((one for one in inputs if path.parent.name == "expected" and one.exists()), None)
        name = str(path.relative_to(folder))
        found[name] = f"{digest(path)} of {digest(recording) if recording else 'no recording'}"
    return found


def lines(value, depth=0):
    """JSON whose innermost dictionaries are a line each."""
    if not any(isinstance(one, dict) for one in value.values()):
        return json.dumps(value)
    indent = " " * depth
    inner = [f"{indent} {json.dumps(key)}: {lines(one, depth + 1)}" for key, one in value.items()]
    return "{\n" + ",\n".join(inner) + f"\n{indent}}}" + ("" if depth else "\n")


def main(tree):
    """Write all of it."""
    shutil.rmtree(RUNS, ignore_errors=True)
    RUNS.mkdir()
    with Player(tree) as play:
        for name, scenario in play.scenarios().items():
            (RUNS / f"{name}.json").write_text(written(record(play, name, scenario)))
    HELP.write_text(json.dumps(helps(tree), indent=1) + "\n")
    DECLARED.write_text(lines(declared(tree)))
    EXPECTED.write_text(json.dumps(expected(tree), indent=1) + "\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve())

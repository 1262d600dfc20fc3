import type { SlashCommand } from "../command.js";

const PROMPT = `Write AGENTS.md in the working directory: instructions for agents that will work on this code. If it exists, improve it.

Read first, as far as they exist: the README and the guide for contributors; the manifests and build files (package.json, pyproject.toml,
Cargo.toml, go.mod, Makefile and so on); the CI configuration; the configuration of linters, formatters and compilers; some source files and
tests. Also AGENTS.md, CLAUDE.md, GEMINI.md, .cursorrules, .cursor/rules, .windsurfrules and .github/copilot-instructions.md: keep what is
right in them. Programs that find AGENTS.md may not read CLAUDE.md next to it, so carry over what belongs to everybody.

Write:
- the commands to install, build, lint, and run all tests and a single test, as this repository defines them;
- the structure: which directory or file has which job, and how the parts work together, if reading one file does not show it;
- the conventions of this code that cannot be guessed, and what goes wrong without knowing it.

Rules:
- At most about 60 lines of Markdown. A line stays only if an agent would make a mistake without it: no general advice, no lists of all
files, nothing that the linter enforces.
- Only what you have read in the files. Check that commands and paths exist; do not invent any.
- In an existing AGENTS.md, keep what is right and the words of its authors. Correct what the code contradicts, and add what is missing.
- No secrets: do not open files such as .env, and copy no keys, tokens, passwords or private addresses.
- Change no other file.

Then say in a few lines what you wrote or changed, and what you could not find out.`;

/** `/init [focus]`: lets the model write or improve AGENTS.md, which pi reads with the next `/reload` or session. */
export const initCommand: SlashCommand = {
	name: "init",
	argumentHint: "[focus]",
	description: "Let the model write or improve AGENTS.md from the repository",
	run: async ({ rest }) => ({ prompt: rest === "" ? PROMPT : `${PROMPT}\n\nThe user adds: ${rest}` }),
};

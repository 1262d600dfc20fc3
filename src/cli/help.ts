/** What `pi --help` prints. A plain text, so that showing it loads nothing. */
export const HELP_TEXT = `pi: a coding agent for the terminal whose context is programmable

usage: pi [options] [@files…] [messages…]
       pi hooks list | new <name> | check <file> | test <file> | trust | untrust
       pi context [--session <id>] [--at <entry>] [--without <hook>] [--verify] [--json]
       pi sessions list | pi sessions show <id> | pi doctor

Without -p or --mode, pi opens its screen; messages are sent one after the other. @file puts a file's text, or an
image, before the first message. With -p, what is piped in is part of the prompt.

model
  --model <name>            id, provider/id or part of a name; ":high" behind it sets the thinking level
  --provider <name>         look for the model only there
  --models <names>          models for Ctrl+P, comma-separated, * and ? match anything
  --api-key <key>           key for this run only
  --thinking <level>        off, minimal, low, medium, high, xhigh
  --list-models [search]    print the models that can be used

session
  -c, --continue            go on with the latest session of this directory
  -r, --resume              choose a session
  --session <path|id>       open this session
  --session-dir <dir>       keep sessions there
  --no-session              keep nothing
  --export <file> [out]     write a session as one HTML file

output
  -p, --print               answer and end, without a screen
  --plain                   a talk in lines for screen readers: no redraws, no boxes, no colours
  --mode <mode>             text (same as -p), json (events as lines) or rpc (commands and events as lines)
  --verbose                 say more, with stack traces

context, tools, hooks
  --system-prompt <text>    in place of pi's own; a text or a file
  --append-system-prompt <text>
                            after it; a text or a file
  --tools <names>           only these tools, comma-separated
  --no-tools                none
  --tool <file>             a tool of your own; repeatable
  --hook <file>             a hook; repeatable
  --no-hooks                no hooks but those of --hook
  --skill <path>            a skill; repeatable
  --no-skills               no skills but those of --skill
  --no-context-files        no AGENTS.md or CLAUDE.md
  --trust                   run the hooks and tools of this project, this time

other
  --demo                    a scripted model on a small broken project, offline
  --offline                 no network but the model's own
  -h, --help                this text
  -v, --version             the version

Keys: environment (ANTHROPIC_API_KEY, OPENAI_API_KEY, …), /login inside pi, or ~/.pi/agent/models.json.
Files: ~/.pi/agent (PI_CODING_AGENT_DIR), .pi in the project. Exit codes: 0 done, 1 error, 2 usage, 130 interrupted.
`;

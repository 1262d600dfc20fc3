/** Output of `pi --help`. A plain string in its own file, so that showing it loads nothing else. */
export const HELP_TEXT = `usage: pi [<options>] [@<file>...] [<message>...]
   or: pi hooks [list | new <name> | check <file> | test <file> | trust | untrust]
   or: pi context [--session <id>] [--at <entry>] [--without <hook>] [--verify] [--json]
   or: pi context bench [--sessions <which>] <strategy>...
   or: pi sessions [list [<text>] | show <id> | search <text> | check [<id>] | repair <id> | import | export <id>]
   or: pi models [list [<text>] | show <model> | update [<provider>...]] [--json]
   or: pi mcp [list | add <name> <url> | add <name> -- <command> [<arg>...] | remove <name>] [--json]
   or: pi usage [--days <n>] [--by day | model | project | session] [--json]
   or: pi install [<package>] | list | update [<package>] | remove <package>
   or: pi import claude | codex | opencode [--yes]
   or: pi doctor
   or: pi acp [<options>]

pi <subcommand> --help, or pi help <subcommand>, describes each of them.

A coding agent for the terminal with a programmable context.

Without --print or --mode, pi opens an interactive session and sends the message. Words are one message, as in pi fix
the tests. Texts in quotes that all contain blanks are messages of their own, sent one after another. @<file> adds a
text file or an image to the first message. With --print, text piped to pi becomes part of the first message.

Model
  --model <name>            model ID, provider/id or part of the name; append ":high" to set the thinking level
  --provider <name>         search only the models of this provider
  --models <patterns>       models that Ctrl+P cycles through, comma-separated, with the wildcards * and ?
  --api-key <key>           API key for this run only
  --thinking <level>        off, minimal, low, medium, high, xhigh or max
  --list-models [<text>]    list the available models, or all models that match the text, and exit

Session
  -c, --continue            continue the session last used in this directory; with -p also one of pi -p
  -r, --resume              choose a session to resume
  --resume-or-new <name>    continue the session of this name in this directory, or begin one: for scripts
  --session <path|id>       open this session, or begin one in a new file
  --session-dir <dir>       store and look up sessions in this directory
  --no-session              do not save the session
  --export <file> [<out>]   export a session as a single HTML file and exit

Output
  -p, --print               print the answer and exit
  --plain                   line-by-line output for screen readers: no redraws, boxes or colors
  --mode <mode>             text (same as --print), json (events as JSON lines) or rpc (commands on stdin too)
  --max-turns <n>           with -p or --mode json: end after so many replies, with exit code 3
  --max-cost <usd>          the same when the requests have cost this much
  --max-time <duration>     the same after 30s, 5m or 1h
  --output-schema <schema>  with -p or --mode json: answer with JSON that matches a JSON Schema: a file, or its text
  --verbose                 print stack traces of errors

Context, tools and hooks
  --system-prompt <text>    replace the system prompt with this text or the content of this file
  --append-system-prompt <text>
                            append a text or the content of a file to the system prompt; repeatable
  --tools <names>           enable only these tools, comma-separated
  --no-tools                disable all tools
  --tool <file>             load a custom tool; repeatable
  --hook <file>             load a hook; repeatable
  -e, --extension <file>    load an extension or a package (npm:<name>, git:<url>, directory); repeatable
  --no-hooks                load no hooks except those of --hook
  --skill <path>            load a skill; repeatable
  --no-skills               load no skills except those of --skill
  --mcp <file>              use the MCP servers of a file like mcp.json; repeatable
  --no-mcp                  use no MCP servers
  --no-context-files        ignore AGENTS.md and CLAUDE.md
  --trust                   run this project's hooks, tools, agents and MCP servers without asking, for this run
  --on <spec>               where tools run: sandbox:, ssh:host:~/dir, docker:container, podman:container, kubectl:pod
                            or local: this machine; overrides the setting "on" and the machine of a resumed session.
                            worktree:name starts pi in a git worktree of this repository, made from HEAD if needed

Other
  --demo                    try pi offline: a scripted model fixes a small broken project
  --offline                 make no network requests except to the model
  -h, --help                print this help
  -v, --version             print the version

API keys: environment variables (ANTHROPIC_API_KEY, OPENAI_API_KEY, ...), /login in pi, or ~/.pi/agent/models.json
Files: ~/.pi/agent (or PI_CODING_AGENT_DIR), and .pi in the project
Exit codes: 0 success, 1 error, 2 invalid usage, 3 limit reached, 130 interrupted
`;

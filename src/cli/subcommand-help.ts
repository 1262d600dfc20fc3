/** Options of every subcommand. */
const COMMON_OPTIONS = `  --verbose                 print stack traces of errors
  -h, --help                print this help
`;
/** Options of every subcommand that looks at sessions or hooks. */
const COMMON = `  --session-dir <dir>       look up sessions in this directory
${COMMON_OPTIONS}`;
const HOOK_OPTIONS = `  --hook <file>             also load this hook; repeatable
  -e, --extension <file>    also load this extension; repeatable
  --no-hooks                load no hooks except those of --hook and -e
  --trust                   run the hooks of this project without asking, for this run
`;
const JSON_OPTION = "  --json                    print JSON\n";

const ALL_OPTION = "  --all                     the sessions of all directories\n";

/** Output of `pi <subcommand> --help`, by the words after `pi`. */
const HELP: Readonly<Record<string, string>> = {
	"context bench": `usage: pi context bench [--sessions <which>] [--model <name>] [--ask] [--show <entry>] [--html <file>]
                        [--fail-if <limit>] [--json] <strategy>...

Plays recorded sessions as if other hooks had run, and prints what each strategy would have sent, cost and hidden from the
model. A strategy is none, or hooks joined with +: pi:clear, ./dedupe.ts+pi:clear, or <package>:<hook>. Flags of hooks are
written as --name=value. Reads only; no network without --ask. Escape stops and prints what there is.

  --sessions <which>        last:20 (the default) for the latest sessions of this directory, ids, files or directories;
                            repeatable
  --model <provider/id>     compute costs and windows of this model instead of the recorded ones
  --show <entry>            print the request that this reply of one session answers, under each strategy, as pi context does
  --ask                     let models write the summaries of compactions and answer the requests of hooks, with your keys:
                            this costs money. Answers are remembered, so the same bench asks nothing the next time
  --html <file>             also write a page with charts
  --fail-if <limit>         such as "cost > +5%", "evidence < 99%" or "peak > 100k", for each strategy over all sessions;
                            repeatable. The figures are the columns and rereads; +5% compares with none
${JSON_OPTION}${COMMON}
Exit codes: 1 if a strategy exceeds a limit, or if its hooks failed or their answers were dropped, 130 if it was stopped
`,
	hooks: `usage: pi hooks [list | new <name> | check <hook>... | test <hook> | trust | untrust]

Manages hooks. Each action has its own help, such as pi hooks check --help.

  list                      list the hooks that a session here loads; the default
  new <name>                write a small working hook and its test
  check <hook>...           load hooks and find faults in them
  test <hook>               run the handlers of a hook on a recorded session
  trust                     trust the hooks, tools, agents and MCP servers of this project
  untrust                   revoke the trust
`,
	"hooks list": `usage: pi hooks list [<options>]

Lists the hooks that a session in this directory loads, with their scope, trust and registrations.

${HOOK_OPTIONS}${JSON_OPTION}${COMMON}
Exit codes: 1 if a hook does not load
`,
	"hooks new": `usage: pi hooks new <name> [--project]
       pi hooks new --package <dir|name>

Writes <name>.ts and tests/<name>.test.mjs to your hooks, and a tsconfig.json if the directory has none.

  --project                 write to the hooks of this project, .pi/hooks
  --package                 write a package to share: a hook, a skill, a test, types and a README, in a new directory
${JSON_OPTION}${COMMON}`,
	"hooks check": `usage: pi hooks check <file|name>... [--types] [--json]

Loads hooks as a session does, and prints what they register. Finds imports that do not exist, entry types and commands that
belong to pi, and malformed registrations. A name is that of one of your hooks, of the project or of pi.

  --types                   also check types, with the TypeScript of the project or the global one
${JSON_OPTION}${COMMON}
Exit codes: 1 if a hook does not load or has a fault
`,
	"hooks test": `usage: pi hooks test <file|name> [--session <path|id>] [--run <command>] [--json]

Runs the handlers of a hook on a recorded session and prints their results. Saves nothing and sends nothing. "at" is the index
of the last entry at each point, as in pi context --at.

  --session <path|id>       use this session; default: a sample
  --run <command>           also run this command of the hook, such as "/budget 200"; repeatable
${JSON_OPTION}${COMMON}
Exit codes: 1 if the hook does not load, a handler fails or a result is rejected
`,
	"hooks trust": `usage: pi hooks trust [--json]

Trusts the hooks, tools, agents and MCP servers of this project until one of their files changes, and lists the files.

${JSON_OPTION}${COMMON}`,
	"hooks untrust": `usage: pi hooks untrust [--json]

Revokes the trust in the hooks, tools, agents and MCP servers of this project.

${JSON_OPTION}${COMMON}`,
	context: `usage: pi context [--session <path|id>] [--at <entry>] [--without <hook>] [--verify] [--json]
       pi context bench [<options>] <strategy>...

Prints the context of a session: each message with its tokens and where it comes from, and the hidden entries. Reads only.
pi context bench compares strategies on recorded sessions: pi context bench --help.

  --session <path|id>       default: the latest session of this directory
  --at <entry>              the context of the entries up to and including this index
  --without <hook>          compute the context without this hook; repeatable
  --verify                  compute every recorded request again, and name the first that differs
${HOOK_OPTIONS}${JSON_OPTION}${COMMON}
Exit codes: 1 if --verify finds a difference
`,
	sessions: `usage: pi sessions [list [<text>] | show <id> | search <text> | check [<id>] | repair <id> | import [<file>] |
                    export <id> [<file>]]

Finds and maintains saved sessions. An id is one that pi sessions list prints, or the path of a session file. Each action has
its own help, such as pi sessions check --help.

  list [<text>]             list the sessions, newest first; with a text, those that contain it; the default
  show <id>                 print a session, one line for each entry
  search <text>             print the entries that contain a text
  check [<id>]              find damage in a session, or in all
  repair <id>               make a damaged session usable again
  import [<file>|<id>]      list the sessions of other programs in this directory, or make a session of one
  export <id> [<file>]      write a session as an HTML page, as Markdown, or in the format of other programs
${ALL_OPTION}${JSON_OPTION}${COMMON}`,
	"sessions list": `usage: pi sessions list [<text>] [--all] [--json]

Lists the sessions of this directory, newest first; with a text, those whose name or messages contain it.

${ALL_OPTION}${JSON_OPTION}${COMMON}
Exit codes: 1 if no session contains the text
`,
	"sessions show": `usage: pi sessions show <path|id> [--all] [--json]

Prints a session, one line for each entry.

${ALL_OPTION}${JSON_OPTION}${COMMON}`,
	"sessions search": `usage: pi sessions search <text> [--all] [--json]

Prints the entries that contain a text, in any letter case: prompts, replies, tool calls and their output. The match is between
two pairs of asterisks. Prints up to five entries of each session, all of them with --json.

${ALL_OPTION}${JSON_OPTION}${COMMON}
Exit codes: 1 if no session contains the text
`,
	"sessions check": `usage: pi sessions check [<path|id>] [--all] [--json]

Finds damaged lines, a missing header, tool calls without a result and wrong indices, in a session or in all of this directory.
Changes nothing.

${ALL_OPTION}${JSON_OPTION}${COMMON}
Exit codes: 1 if something is wrong
`,
	"sessions repair": `usage: pi sessions repair <path|id> [--all] [--json]

Restores the header, completes an interrupted write and answers tool calls without a result with an error. Keeps all entries,
and the old file as <file>.bak.

${ALL_OPTION}${JSON_OPTION}${COMMON}`,
	"sessions import": `usage: pi sessions import [<file>|<directory>|<id>] [--from <program>] [--list] [--again] [--json]

Makes sessions of this directory from those of other programs: Claude Code (claude), Codex (codex), opencode, Gemini CLI
(gemini), aider, and pi's tree format (pi). Without a file, lists those that began in this directory. Does not change their
files, and names what is not taken over.

  --from <program>          only sessions of this program
  --list                    list the sessions of a file or directory, and import nothing
  --again                   import a session again that was imported before
${JSON_OPTION}${COMMON}`,
	"sessions export": `usage: pi sessions export <path|id> [<file>|-] [--format html|markdown|claude|atif] [--all]

Writes a session as one file and prints its path; - writes to stdout. The format is that of the file's name (.html, .md, .jsonl
for claude, .json for atif), else html. Existing files are not replaced, except pages that pi has exported. The whole
conversation is exported, whether or not the model still sees it; the output of !! commands is not.

  --format <format>         html: a page with every request; markdown: text to read and to paste; claude: a session file of
                            Claude Code; atif: a trajectory in the Agent Trajectory Interchange Format
${ALL_OPTION}${COMMON}`,
	models: `usage: pi models [list [<text>] | show <model> | update [<provider>...]] [--json]

Lists the models that pi knows, and asks providers for new ones. Each action has its own help, such as pi models update --help.

  list [<text>]             list the models with a key, or all that match the text; the default
  show <model>              print what pi knows about a model, and where each fact comes from
  update [<provider>...]    ask the providers for their models
${JSON_OPTION}${COMMON}`,
	"models list": `usage: pi models list [<text>] [--json]

Lists the models whose provider has a key; with a text, all models that match it, as pi --list-models <text> does.

${HOOK_OPTIONS}${JSON_OPTION}${COMMON}
Exit codes: 1 if no model matches
`,
	"models show": `usage: pi models show <provider>/<id> [--json]

Prints what pi knows about a model, one fact for each line, and where it comes from: the list that ships with pi, an update,
the catalog, models.json, or the nearest relative of a model that no list has.

${HOOK_OPTIONS}${JSON_OPTION}${COMMON}
Exit codes: 2 if no provider has the model
`,
	"models update": `usage: pi models update [<provider>...] [--json]

Asks the providers with a key, or those that are named, for their models, and the catalog of the setting models.catalog for
windows, prices and release dates. Stores what differs from the list that ships in model-list.json in the agent directory. A
provider that fails is named and keeps what is known of it.

  --offline                 refused: an update needs the network
${JSON_OPTION}${COMMON}
Exit codes: 1 if no provider answers, or if none can be asked and the catalog fails
`,
	mcp: `usage: pi mcp [list | add <name> <url> | add <name> -- <command> [<arg>...] | remove <name>] [--json]

Manages MCP servers. Each action has its own help, such as pi mcp add --help.

  list                      list the servers that are defined here; the default
  add <name> ...            define a server
  remove <name>             remove the definition of a server
${JSON_OPTION}${COMMON_OPTIONS}`,
	"mcp list": `usage: pi mcp list [--json]

Lists the MCP servers that a session in this directory finds: the file that defines each, whether it is used, and its command or
address. Starts none of them, and shows no values of variables, headers and options that may be secret.

  --trust                   as if you trusted the servers of this project
${JSON_OPTION}${COMMON_OPTIONS}
Exit codes: 1 if a definition has a problem
`,
	"mcp add": `usage: pi mcp add <name> <url> [--header "<name>: <value>"] [<options>]
       pi mcp add <name> [--env <name>=<value>] [<options>] -- <command> [<arg>...]

Defines an MCP server in mcp.json of the agent directory, for all projects. Everything else in the file is kept. Values are not
printed, and only you can read the file. Does not start the server.

  -e, --env <name>[=<value>]
                            variable of the command; without a value, that of pi's environment at each start; repeatable
  -H, --header <header>     header of each request to the address, as "<name>: <value>"; repeatable
  --project                 define it in .pi/mcp.json of this project; pi asks before it runs
  --replace                 replace a server of the same name
  --check                   then start the server once, and list its tools
  --offline                 with --check: no requests to other machines
  -s, --scope <scope>       user, or project: the same as --project
  -t, --transport <kind>    stdio or http; pi also derives it
${JSON_OPTION}${COMMON_OPTIONS}
Exit codes: 1 if the definition cannot be written, or if --check cannot start the server
`,
	"mcp remove": `usage: pi mcp remove <name> [--project] [--json]

Removes an MCP server from mcp.json of the agent directory.

  --project                 from .pi/mcp.json of this project
  -s, --scope <scope>       user, or project: the same as --project
${JSON_OPTION}${COMMON_OPTIONS}`,
	acp: `usage: pi acp [<options>]

Speaks the Agent Client Protocol on stdin and stdout, for editors. Accepts the options of pi for model, context, tools and
hooks; they apply to every session.

  --model <name>            model of new sessions
  --session-dir <dir>       store and look up sessions in this directory
  --no-session              do not save sessions
  --trust                   run the hooks, tools, agents and MCP servers of projects without asking
  --login                   open pi in the terminal to log in
  -h, --help                print this help

pi --help lists all options.
`,
	usage: `usage: pi usage [--days <n>] [--by day | model | project | session] [--json]

Prints tokens and cost of all sessions; with --session-dir, of those in that directory.

  --days <n>                only the last days, today included
  --by <key>                group by day (default), model, project or session
${JSON_OPTION}${COMMON}`,
	install: `usage: pi install [npm:<name>[@<version>] | git:<url>[@<ref>] | <path>] [--local] [--json]

Installs a package of hooks, extensions, tools, agents, skills, prompts and themes, and adds it to the settings. Uses the npm
and git of this machine; install scripts never run. Nothing of the package runs before you have seen its code: pi asks at its
next start. Versions and digests are stored in packages.lock.json and compared at each start. What the package claims to save in
its bench.json is shown, next to the figures of your last sessions if you have trusted its code before.
Without a source, installs the packages of the settings that are missing or damaged, exactly as locked.

  npm:<name>[@<version>]    a version, range or tag of the registry; default: the latest version
  git:<url>[@<ref>]         a branch, tag or commit; default: the default branch
  <path>                    a directory, which stays where it is
  -l, --local               for this project: .pi/settings.json and .pi/packages.lock.json
${JSON_OPTION}${COMMON}
Exit codes: 1 if the package cannot be installed; nothing has changed then
`,
	list: `usage: pi list [--json]

Lists the packages that a session in this directory uses: version, where they are configured, whether you trust their contents,
and what they bring.

${JSON_OPTION}${COMMON}
Exit codes: 1 if a package cannot be loaded
`,
	update: `usage: pi update [<name>] [--local] [--json]

Installs the newest version of a package, or of all, that the settings allow. pi shows the changes at its next start and asks
before it runs them.

  <name>                    such as npm:<name>, or its last part
  -l, --local               the packages of this project
${JSON_OPTION}${COMMON}
Exit codes: 1 if a package cannot be updated
`,
	remove: `usage: pi remove <name> [--local] [--json]

Removes a package from settings, lock file and disk, and revokes the trust in it.

  <name>                    such as npm:<name>, or its last part
  -l, --local               from this project
${JSON_OPTION}${COMMON}`,
	import: `usage: pi import claude | codex | opencode [--yes] [--json]

Takes over what you have for another agent: commands, agents, skills, MCP servers, instructions and hooks. Lists everything
that is there and what it becomes in pi, asks which of it you want, shows the changes, and writes. Never replaces anything of
pi, and never changes files of the other program. Without a terminal and without --yes, it only lists. Secrets are copied and
not shown. pi sessions import takes over sessions.

  -y, --yes                 take over everything that has a counterpart and is not there yet
  --trust                   also take over files of a project whose code you have not trusted
${JSON_OPTION}${COMMON}
Exit codes: 1 if something cannot be written
`,
	doctor: `usage: pi doctor [--json]

Checks settings, keys, models, hooks, tools and the terminal, and says how to fix each problem.

  --offline                 make no network requests
${HOOK_OPTIONS}${JSON_OPTION}${COMMON}
Exit codes: 1 if there are problems
`,
};

/** Words that have a help text of their own, such as `hooks check`. */
export const HELP_TOPICS = Object.keys(HELP);

/** The help of a subcommand or of one of its actions. @param words such as `["hooks", "check"]`; further words are ignored */
export function subcommandHelp(words: readonly string[]): string {
	return HELP[words.slice(0, 2).join(" ")] ?? HELP[words[0] ?? ""] ?? "";
}

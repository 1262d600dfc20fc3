/** Output of `pi sessions --help`. */
export const SESSIONS_HELP_TEXT = `usage: pi sessions [list [<text>]] [--all] [--json]
   or: pi sessions show <id> [--all] [--json]
   or: pi sessions search <text> [--all] [--json]
   or: pi sessions check [<id>] [--all] [--json]
   or: pi sessions repair <id> [--all] [--json]
   or: pi sessions import <file> [--json]

Finds and maintains saved sessions. <id> is an id, the unique start of one, or the path of a session file.

  list      print the sessions of this directory, newest first; with a text, those that contain it
  show      print a session, one line per entry
  search    print the entries that contain the text: prompts, replies, tool calls and their output
  check     look for damaged lines, a missing header, tool calls without a result and wrong indices
  repair    restore the header and answer tool calls without a result; the old file is kept as <file>.bak
  import    make a session of this directory from a file in the tree format (entries with id and parentId)

  --all                     the sessions of all directories
  --session-dir <dir>       the sessions in this directory of session files
  --json                    print JSON

Exit codes: 0 success, 1 nothing found, a problem found or an error, 2 invalid usage
`;

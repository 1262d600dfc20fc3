import { setImmediate as nextTurn } from "node:timers/promises";
import { expect, test } from "vitest";
import { AsyncScopes } from "../../src/util/async-scopes.js";

/** The values of code before and after a pause. */
async function valuesAround(scopes: AsyncScopes<string>, pause: Promise<unknown>) {
	const before = scopes.current;
	await pause;
	return [before, scopes.current];
}

test("code has the value of its scope until that is closed", async () => {
	const scopes = new AsyncScopes<string>();
	const scope = scopes.open("own");
	expect(await scope.run(() => valuesAround(scopes, nextTurn()))).toEqual(["own", "own"]);
	const untilClosed = scope.run(() => valuesAround(scopes, nextTurn()));
	scope.close();
	expect(await untilClosed).toEqual(["own", undefined]);
	expect(scopes.current).toBeUndefined();
});

test("closing a scope twice leaves the others open", async () => {
	const scopes = new AsyncScopes<string>();
	const [closed, open] = [scopes.open("closed"), scopes.open("open")];
	const values = open.run(() => valuesAround(scopes, nextTurn()));
	closed.close();
	closed.close();
	expect(await values).toEqual(["open", "open"]);
});

test("a scope can be opened after all others were closed", async () => {
	const scopes = new AsyncScopes<string>();
	scopes.open("first").close();
	expect(await scopes.open("second").run(() => valuesAround(scopes, nextTurn()))).toEqual(["second", "second"]);
});

test("code in two scopes has the value of the inner one", async () => {
	const scopes = new AsyncScopes<string>();
	const [outer, inner] = [scopes.open("outer"), scopes.open("inner")];
	const values = outer.run(async () => [
		...(await inner.run(() => valuesAround(scopes, nextTurn()))),
		...(await valuesAround(scopes, nextTurn())),
	]);
	expect(await values).toEqual(["inner", "inner", "outer", "outer"]);
});

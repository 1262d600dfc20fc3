import { setImmediate as nextTurn } from "node:timers/promises";
import { expect, test, vi } from "vitest";
import type { Exchange } from "../../src/network/request-scope.js";

// Other tests leave scopes open.
vi.resetModules();
const { currentScope, openScope, withScope } = await import("../../src/network/request-scope.js");

function exchange(): Exchange {
	return { onRoute() {}, onResponse() {}, onFailure() {}, onErrorBody() {} };
}

/** The scopes of code before and after a pause. */
async function scopesAround(pause: Promise<unknown>) {
	const before = currentScope();
	await pause;
	return [before, currentScope()];
}

test("code has its scope until that is closed", async () => {
	const own = exchange();
	const scope = openScope({ exchange: own });
	const whileOpen = scope.run(() => scopesAround(nextTurn()));
	expect(await whileOpen).toEqual([{ exchange: own }, { exchange: own }]);
	const untilClosed = scope.run(() => scopesAround(nextTurn()));
	scope.close();
	expect(await untilClosed).toEqual([{ exchange: own }, {}]);
	expect(currentScope()).toEqual({});
});

test("closing a scope twice leaves the others open", async () => {
	const [first, second] = [exchange(), exchange()];
	const [closed, open] = [openScope({ exchange: first }), openScope({ exchange: second })];
	const scopes = open.run(() => scopesAround(nextTurn()));
	closed.close();
	closed.close();
	expect(await scopes).toEqual([{ exchange: second }, { exchange: second }]);
	open.close();
});

test("a scope can be opened after all others were closed", async () => {
	openScope({ exchange: exchange() }).close();
	const own = exchange();
	const scope = openScope({ exchange: own });
	expect(await scope.run(() => scopesAround(nextTurn()))).toEqual([{ exchange: own }, { exchange: own }]);
	scope.close();
});

test("a scope that remains open outlasts those that are closed", async () => {
	const route = { proxyOf: null, options: async () => ({}) };
	const scopes = await withScope({ route }, async () => {
		openScope({ exchange: exchange() }).close();
		return scopesAround(nextTurn());
	});
	expect(scopes).toEqual([{ route }, { route }]);
});

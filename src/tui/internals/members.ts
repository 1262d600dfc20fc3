/** The pi-tui version whose private members this folder uses. package.json pins it. */
export const PI_TUI_VERSION = "0.87.1";

/**
 * Checks that a pi-tui component has the private members that pi uses.
 * @param name the component's name in pi-tui
 * @param members each member with the `typeof` its value
 * @throws TypeError when a member is missing or has another type
 */
export function assertMembers<T extends object>(
	component: object,
	name: string,
	members: Readonly<Record<keyof T & string, "boolean" | "function" | "number" | "object">>,
): asserts component is T {
	for (const [member, type] of Object.entries(members)) {
		const value: unknown = Reflect.get(component, member);
		if (typeof value === type && value !== null) continue;
		throw new TypeError(`pi needs pi-tui ${PI_TUI_VERSION}: ${name} has no ${member} of type ${type} in this version`);
	}
}

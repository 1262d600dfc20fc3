/** Values of several owners, of which the one set last counts. */
export class OwnedValues<T> {
	readonly #values = new Map<string, T>();

	/** @param onRemoved receives each value that is replaced or removed */
	constructor(private readonly onRemoved: (value: T) => void = () => {}) {}

	/** Sets the value of an owner, or removes it. @returns the value that counts now */
	set(owner: string, value: T | undefined): T | undefined {
		const previous = this.#values.get(owner);
		this.#values.delete(owner);
		if (value !== undefined) this.#values.set(owner, value);
		if (previous !== undefined) this.onRemoved(previous);
		return [...this.#values.values()].at(-1);
	}
}

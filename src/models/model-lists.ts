import type { Api, Model } from "@mariozechner/pi-ai";

/**
 * Models by provider, in the order in which the providers were added. A provider's list is read when it is first needed:
 * reading all lists of pi-ai takes 6 ms. Immutable.
 */
export class ModelLists {
	readonly #known = new Map<string, readonly Model<Api>[]>();

	/** @param read reads the list of a provider, at most once */
	constructor(private readonly read: ReadonlyMap<string, () => readonly Model<Api>[]> = new Map()) {}

	/** The names of the providers. */
	get providers(): string[] {
		return [...this.read.keys()];
	}

	/** The models of a provider; none if it is unknown. */
	of(provider: string): readonly Model<Api>[] {
		const models = this.#known.get(provider) ?? this.read.get(provider)?.() ?? [];
		this.#known.set(provider, models);
		return models;
	}

	find(provider: string, id: string): Model<Api> | undefined {
		return this.of(provider).find((model) => model.id === id);
	}

	/** All models, grouped by provider. */
	all(): readonly Model<Api>[] {
		return this.providers.flatMap((provider) => this.of(provider));
	}

	/** The same lists with added models; each replaces the model with the same provider and id. */
	with(added: readonly Model<Api>[]): ModelLists {
		const lists = new Map(this.read);
		for (const provider of new Set(added.map((model) => model.provider))) {
			const byId = new Map(this.of(provider).map((model) => [model.id, model]));
			for (const model of added) if (model.provider === provider) byId.set(model.id, model);
			const models = [...byId.values()];
			lists.set(provider, () => models);
		}
		return new ModelLists(lists);
	}
}

import { fillDefaults } from "../../src/config/json-schema.js";
import { SETTINGS_SCHEMA, type Settings } from "../../src/config/settings-schema.js";

/** The settings of a user who has set nothing. */
export const defaultSettings = (): Settings => fillDefaults(SETTINGS_SCHEMA, {});

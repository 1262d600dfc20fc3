import { testDamagedFiles } from "./damaged-files.js";
import { mutated } from "./mutate.js";

testDamagedFiles("mutated", mutated);

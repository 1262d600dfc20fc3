import { testDamagedFiles } from "./damaged-files.js";
import { truncated } from "./mutate.js";

testDamagedFiles("truncated", truncated);

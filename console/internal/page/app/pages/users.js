// Users of the console: all of them, or one that the address names.
import { query } from "../query.js";
import { showUser } from "../users-one.js";
import { showUsers } from "../users-list.js";

const { user } = query();
if (user) showUser(user);
else showUsers();

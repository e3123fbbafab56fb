/**
 * Words of exported names that need no explanation: plain English and what every programmer says. Nouns of this house stand in the
 * table of docs/ARCHITECTURE.md instead. A word goes when the last name with it does.
 *
 * @type {ReadonlySet<string>}
 */
export const PLAIN_WORDS = new Set(
  `
    a about above absolute access act acted action active add addition admit advance advice after again ago alive all alternative
    and answer any api applied apply approve approved archive around as asked asker assumed at attempted auth author authorise
    auxiliary available away axes back bad bar bare base bearer because before begin beginning begun behind belong beside between
    binary bind blind block blocked bound box browser button by byte call called can cancel cannot cap capped captured carried
    carrying case change changeable changed channel character cheap checkbox child choice choose chosen circumstance claim
    classified classify clean clear client close code collect collection command common compact compared compile compute computed
    config configured console context contradiction control cookie copy cost count counted counter cover create created
    cross csv current cut cycle data date day db ddl deciding decimal decision declaration declare decode deed default define
    delete dep describe detail detect detectable diagnose dialog digest digit direction disjoint doctor document done door down
    drag due duration duty earliest editor elsewhere email embedded empty encode encoding end ended ending enter epoch error
    estimate every exact examine examined examiner excessive expectation expected export extra fact failed failing falling
    fault feature fetch fetched few field file filled filler find finite first fixed fold folded folder follow followed for
    foreign forget forgive form format forwarded found fraction free frequent fresh from frozen function gather gauge general
    generate generic get go going gone grew ground group growing has hash head health healthy heat height held here hide hint hold
    holder hour how href hue hydrate icon id idempotency idempotent identification identify idle ids if image implausible in
    indexed info input insert inserted inset install instant integer interpolate interval intervene into invalid is iso it
    item join json judge keep keeper kept kind label labelled lacked lacking last lately later latest layer layout le lead leading
    leaf leave led left lift line literal live load location locked log login look looked looking loop
    loopback lost make many map mapped markdown marked masked match max may mean meaning memory menus merge merged micro migrate
    millisecond min minute missing mode most ms mysql name named native needed negated new newest next no nonce
    normalise not nothing now null number numbered object observe observed oddity of off offer offered offset old older oldest on
    once one only open opening operator option optional or ordered origin other out outside overlay own owner p pack param
    parameter parse parsed part passed password past pause pending per percent person plain planned planner point poison poll
    polled pool popover port positioned post postgre postmaster preference prepare prepared present presented press preview print
    printed private process processing program prop propose provable prove proven provisional proxy public published put query
    queue quiet quoted range rank rated raw reach read reader readiness ready real recent recorded recover ref reference refuse
    refused refusing related relative release remember remembered remove render replace report request require required reserve
    resolution response rest restart restore result resume revoke right root route rule running runtime same sampled sampler save
    say scanned schema scheme screen script second section security see seeing seen select selected send sending sent sentence
    serialise set settle settling shared short shortcut shortened show shown sight sign signed since size skeleton skip skipped
    slow slug small socket sort spec spelling spend spent sql ssl stable stale start startable starved statement status steady
    still stop stopped stopwatch stored stuck suggestion sum summarise summary superuser supported switch switcher table take
    taken tally template tenth test text than theme there through throwaway ticking time timeout timing titled to together tone
    too top touch touched transaction transactional transition tree tried trouble true truth try turn typed unanswered unavailable
    uncounted under unique unit unknown unless unlimited unmark unpack unprivileged unreachable unread unseen unsettled unsure up
    update url usable use utc uuid vacuum value variable verify versioned vetoe viewport visible visit visitor void wait waiting
    wall wanted warning watch watched way weak where who whole why width with within word worst writable write written yield zero
    zone
  `
    .trim()
    .split(/\s+/),
);

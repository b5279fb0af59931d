/** The guards of the console's pages: what a form asks for, and what its write rests on. */
import { type Guard, guardsIn } from './guard.ts';

const APP_FORMS = ['test/http/operator/console/app-forms.test.ts'];
const COPY_BUTTONS = ['test/http/operator/console/copy-buttons.test.ts'];

/** Guards of src/http/operator/console. */
export const consoleGuards: readonly Guard[] = [
  ...guardsIn('src/http/operator/console/apps/app-form-values.ts', APP_FORMS, [
    ['a text that a form lacks stays as it is', 'form.get(member) ?? before[member]', "form.get(member) ?? ''"],
  ]),
  ...guardsIn(
    'src/operator/fields/setting.ts',
    ['test/operator/fields.test.ts'],
    [['it is an act to remove keys', "act[1] === 'unless default'", 'true']],
  ),
  ...guardsIn('src/http/operator/console/apps/app-form.ts', APP_FORMS, [
    [
      'a secret, a link and trust are asked for',
      'of actsOfNewClient(members)) call.requires(act)',
      'of []) call.requires(act)',
    ],
    ['a change that makes trust is asked for', 'of acts) call.requires(act)', 'of []) call.requires(act)'],
    [
      'a form of a changed app writes nothing',
      "call.form.get('tag') !== (await tagOf(client))",
      'await tagOf(client) === null',
    ],
    ['an app within its limits can be saved', 'bodyLimit: 256 * 1024, maxParameters: 500', ''],
  ]),
  ...guardsIn(
    'src/operator/trail/event-words.ts',
    ['test/http/operator/event-members.test.ts'],
    [
      [
        'no name in the words of an event passes for another fact',
        '.test(entry) ? entry',
        '.test(entry) || true ? entry',
      ],
    ],
  ),
  ...guardsIn(
    'src/operator/lists/event-subjects.ts',
    ['test/http/operator/console/events.test.ts'],
    [
      ['no name of an app takes the place of an id', 'if (await hasEvents(trail, { clientId: text }))', 'if (false)'],
      [
        'no email address takes the place of an id',
        'if (await hasEvents(trail, { resourceOwnerId: text }))',
        'if (false)',
      ],
    ],
  ),
  ...guardsIn(
    'src/operator/secrets/secret-last-uses.ts',
    ['test/http/operator/console/app.test.ts'],
    [
      [
        'an app whose used secret was retired is none that nobody uses',
        'latest([lastSecretUse(uses), issued])',
        'latest([lastSecretUse(uses), issued && null])',
      ],
    ],
  ),
  ...guardsIn(
    'src/pages/operator/apps/app-failures.ts',
    ['test/http/operator/console/app.test.ts'],
    [['a table of causes that leaves some out says so', 'causes.length > limit &&', 'false &&']],
  ),
  ...guardsIn(
    'src/pages/operator/events/details.ts',
    ['test/http/operator/console/event-words.test.ts'],
    [['a member that another release named is isolated', 'label ?? isolatedCode(member)', 'label ?? member']],
  ),
  ...guardsIn(
    'src/http/operator/console/console-routes.ts',
    ['test/http/operator/console/app-form-race.test.ts'],
    [
      [
        'the write asks that the thing is as shown',
        'conditions: { ...actor.conditions, unchanged }',
        'conditions: { ...actor.conditions }',
      ],
    ],
  ),
  ...guardsIn('src/http/operator/console/once-only-form.ts', APP_FORMS, [
    ['a form registers one app', "form.get('once') ?? newKey(), request", 'newKey(), request'],
  ]),
  ...guardsIn(
    'src/http/operator/console/apps/app.ts',
    ['test/http/operator/console/app.test.ts'],
    [['a form makes one secret', 'runOnce(idempotency, call, null, make, madeBefore)', 'make(call.actor)']],
  ),
  ...guardsIn(
    'src/http/operator/console/people/people.ts',
    ['test/http/operator/console/people.test.ts'],
    [
      [
        'a form invites one person',
        'runOnce(operatorApi.idempotency, call, person, add, addedBefore)',
        'add(call.actor)',
      ],
    ],
  ),
  ...guardsIn(
    'src/http/operator/console/people/person-acts.ts',
    ['test/http/operator/console/people.test.ts'],
    [
      [
        'a person is changed, invited and deleted as shown',
        "form.get('tag') !== personTag(account))",
        "form.get('tag') === '')",
      ],
      [
        'a person is enabled as shown',
        'unchanged(service, call, (...shown) => accounts.enable(...shown))',
        'accounts.enable({ id: call.id }, call.actor)',
      ],
      [
        'a person who came back is not deleted',
        '(...shown) => accounts.delete(...shown), timeOfPage(call.form)',
        '(...shown) => accounts.delete(...shown)',
      ],
      ['a page without a time deletes nobody', '!/^\\d{1,15}$/.test(at)', 'false as boolean'],
      ['a grant ends on the page of its person alone', 'found?.grant.resourceOwnerId !== id', 'found === undefined'],
    ],
  ),
  ...guardsIn(
    'src/http/operator/console/people/person-form.ts',
    ['test/http/operator/console/people.test.ts'],
    [['a second press reverts nothing of another operator', 'typed: typedOver(present, typed, shown)', 'typed']],
  ),
  ...guardsIn(
    'src/http/operator/console/investigation/leaked.ts',
    ['test/http/operator/console/leaked.test.ts'],
    [
      [
        'a role is offered only the steps of its own that end a link',
        'may: mayEnd[owner.kind]',
        "may: { handOver: true, invite: true, reset: true, ...(owner.kind === 'client' && { pause: true }) }",
      ],
      ['no address gets a pasted text', "grant ? grantIdText(grant) : ''", "call.form.get('grant') ?? ''"],
      [
        'a step ends a grant of its app alone',
        'return found?.grant.clientId === clientId ? found : null;',
        'return found;',
      ],
      ['each step after a leak is its own act', 'name, async (call) => {', "'identify', async (call) => {"],
    ],
  ),
  ...guardsIn(
    'src/http/operator/console/done-act.ts',
    ['test/http/operator/console/states.test.ts'],
    [['a link that somebody sends says of no act that it was done', "=== 'same-origin' ? asked", '!== null ? asked']],
  ),
  ...guardsIn(
    'src/http/operator/console/sign-in/continue-to.ts',
    ['test/http/locations.test.ts', 'test/http/operator/console/states.test.ts'],
    [
      ['a page that leads on drops the name of an act', "withoutParameter(text, 'done')", "withoutParameter(text, '')"],
      ['a page leads on within this address alone', '&& url.pathname + url.search === address ? address', '? address'],
    ],
  ),
  ...guardsIn(
    'src/http/operator/console/sign-in/guard.ts',
    ['test/http/locations.test.ts'],
    [
      [
        'a form leads back within this address alone',
        'back: ownAddress(pageOf(request, isPage))',
        "back: request.headers.referer ?? '/'",
      ],
    ],
  ),
  ...guardsIn(
    'src/http/operator/console/operators/operators.ts',
    ['test/http/operator/operators.test.ts'],
    [
      [
        'an operator is changed as the page showed them',
        "form.get('tag') !== etagOf(operatorJson(row))",
        'false as boolean',
      ],
      [
        'a key is given as the page showed the operator',
        'unchanged({ ...call, actor }, (asked) => registry.addKey(id, settings, asked))',
        'registry.addKey(id, settings, actor)',
      ],
      ['a form adds one key', 'runOnce(idempotency, call, settings, add, addedBefore)', 'add(call.actor)'],
      ['a form adds one operator', 'runOnce(idempotency, call, { name, role }, add, addedBefore)', 'add(call.actor)'],
      ['to add a key is an act of its own', "'operators.add-key',", "'operators.show',"],
      ['to add an operator is an act of its own', "'operators.add',", "'operators.list',"],
      ['to change a role is an act of its own', "'operators.update',", "'operators.show',"],
    ],
  ),
  ...guardsIn(
    'src/http/operator/console/sign-in/unsent-form.ts',
    ['test/http/operator/console/states.test.ts'],
    [
      [
        'no pasted credential comes back without a session',
        'routeOptions.config.keepsTyped === true',
        'routeOptions !== undefined',
      ],
      ['a form that is read without a session is small', '<= MAX_BYTES', '<= Infinity'],
    ],
  ),
  ...guardsIn('src/http/operator/console/console-pages.ts', COPY_BUTTONS, [
    ['a page of the console runs no script that it has not', 'secure(reply, hasScript(page))', 'secure(reply, true)'],
  ]),
  ...guardsIn('src/pages/operator/shown-once.ts', COPY_BUTTONS, [
    ['no label holds what is shown once', "${message === null ? 'the secret' : 'the link'}", '${text}'],
  ]),
];

/** The made-up apps, scopes, APIs and operators. Days count back from today. */

/** The installation's scopes, each with the sentence of the consent page and its effect. */
export const SCOPES = {
  'files:read': ['See your files and folders', 'reads'],
  'files:write': ['Add and change files', 'changes'],
  'contacts:read': ['See your contacts', 'reads'],
  'calendar:read': ['See your calendar', 'reads'],
  'calendar:write': ['Add and change events in your calendar', 'changes'],
  'invoices:read': ['See your invoices', 'reads'],
  'invoices:write': ['Write and send invoices for you', 'sensitive'],
  'messages:send': ['Send messages for you', 'sensitive'],
} as const;

export type ScopeName = keyof typeof SCOPES;

/** An app. */
export type CastApp = {
  readonly name: string;
  readonly host: string;
  /** Days since the registration. */
  readonly days: number;
  /** Popularity among the people, from 0 to 1. */
  readonly share: number;
  /** Calls of a connection on a workday. */
  readonly checks: number;
  readonly scopes: readonly ScopeName[];
  readonly kind?: 'public' | 'device';
  readonly isChecked?: boolean;
};

export const APPS: readonly CastApp[] = [
  {
    name: 'Harvest Invoices',
    host: 'harvest',
    days: 398,
    share: 0.34,
    checks: 9,
    scopes: ['invoices:read', 'invoices:write', 'contacts:read'],
    isChecked: true,
  },
  {
    name: 'Lumen Calendar',
    host: 'lumen',
    days: 396,
    share: 0.42,
    checks: 14,
    scopes: ['calendar:read', 'calendar:write'],
    isChecked: true,
  },
  {
    name: 'Tidemark Backup',
    host: 'tidemark',
    days: 381,
    share: 0.2,
    checks: 24,
    scopes: ['files:read'],
    isChecked: true,
  },
  {
    name: 'Quillpost',
    host: 'quillpost',
    days: 362,
    share: 0.16,
    checks: 5,
    scopes: ['contacts:read', 'messages:send'],
  },
  {
    name: 'Brightdesk Support',
    host: 'brightdesk',
    days: 351,
    share: 0.14,
    checks: 7,
    scopes: ['contacts:read', 'messages:send'],
    isChecked: true,
  },
  {
    name: 'Fernway Travel',
    host: 'fernway',
    days: 330,
    share: 0.12,
    checks: 3,
    scopes: ['calendar:read', 'calendar:write'],
  },
  {
    name: 'Palette Studio',
    host: 'palette',
    days: 309,
    share: 0.15,
    checks: 11,
    scopes: ['files:read', 'files:write'],
  },
  {
    name: 'Halden CRM',
    host: 'halden',
    days: 300,
    share: 0.24,
    checks: 16,
    scopes: ['contacts:read', 'calendar:read', 'messages:send'],
    isChecked: true,
  },
  {
    name: 'Pocket Ledger',
    host: 'pocketledger',
    days: 282,
    share: 0.2,
    checks: 4,
    scopes: ['invoices:read'],
    kind: 'public',
  },
  { name: 'Rowan TV', host: 'rowan', days: 251, share: 0.08, checks: 6, scopes: ['files:read'], kind: 'device' },
  { name: 'Sparrow Forms', host: 'sparrow', days: 240, share: 0.1, checks: 5, scopes: ['contacts:read'] },
  {
    name: 'Kestrel Analytics',
    host: 'kestrel',
    days: 203,
    share: 0.1,
    checks: 30,
    scopes: ['contacts:read', 'invoices:read'],
  },
  {
    name: 'Beacon Alerts',
    host: 'beacon',
    days: 154,
    share: 0.12,
    checks: 8,
    scopes: ['calendar:read', 'messages:send'],
  },
  {
    name: 'Cobalt Sign',
    host: 'cobalt',
    days: 118,
    share: 0.14,
    checks: 4,
    scopes: ['files:read', 'files:write'],
    isChecked: true,
  },
  { name: 'Juniper Notes', host: 'juniper', days: 61, share: 0.12, checks: 10, scopes: ['files:read', 'files:write'] },
];

/** The app that was registered last, and whose developer fetched the secret at a one-time address. */
export const HANDED_OVER: CastApp = {
  name: 'Marble Exports',
  host: 'marble',
  days: 8,
  share: 0.05,
  checks: 6,
  scopes: ['invoices:read'],
};

/** The apps with a story. */
export const STORIES = {
  failing: 'Halden CRM',
  dormant: 'Sparrow Forms',
  paused: 'Kestrel Analytics',
  twoSecrets: 'Brightdesk Support',
  replayed: 'Quillpost',
  leaked: 'Palette Studio',
} as const;

/** The operators. The first one signs in at the printed address. */
export const OPERATORS = [
  { name: 'Robin Castellanos', role: 'admin', source: '192.0.2.11' },
  { name: 'Ines Duarte', role: 'admin', source: '192.0.2.24' },
  { name: 'Tom Okafor', role: 'support', source: '192.0.2.57' },
] as const;

const FIRST =
  'Ada Amir Anna Aylin Ben Bruno Carla Chen Chidi Clara Daniel Dina Elif Elena Emil Farah Felix Freya Goran Hana Henrik ' +
  'Ibrahim Ida Ilja Ines Jamal Jana Jonas Joost Julia Kaito Karim Kofi Lara Leila Lena Leo Linh Lucas Maja Malik Maria ' +
  'Mateo Mei Milan Nadia Nils Noor Olga Omar Paula Pedro Priya Rafael Rosa Sami Sofia Sven Tara Thea Tomas Vera Wei Yara ' +
  'Yusuf Zoe';
const LAST =
  'Abebe Adeyemi Almeida Andersson Bakker Banerjee Barbieri Becker Bianchi Castro Chowdhury Cohen Costa Dahl Demir Dubois ' +
  'Eriksen Farouk Fischer Fontaine Garcia Haddad Hansen Horvat Ivanova Jansen Kaya Keller Khan Kim Kovacs Kowalska Laine ' +
  'Larsen Lindgren Lopez Mahmoud Marino Meyer Mensah Moreau Nakamura Nguyen Novak Nowak Okoro Olsen Park Patel Pereira ' +
  'Petrov Popescu Rossi Sato Schmidt Silva Singh Sorensen Suzuki Tanaka Torres Varga Virtanen Wagner Weber Yilmaz Zhang';

export const FIRST_NAMES: readonly string[] = FIRST.split(' ');
export const LAST_NAMES: readonly string[] = LAST.split(' ');

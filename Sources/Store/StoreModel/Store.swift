/// The whole store of a server, with one protocol for each subject.
///
/// Only the code that opens a store or starts a server takes all of it. That code gives each part
/// of the server the protocols that the part needs. Each protocol is in the folder of its subject,
/// in a file of its name.
///
/// ```swift
/// let user = try await store.accounts.user(named: "alice")
/// ```
///
/// Every write is one transaction and durable when the call returns, even if the power fails at
/// that moment. Waiting writes share one commit, in which each succeeds or is rolled back by
/// itself. A call that throws has changed nothing, except for ``StoreError/Code/outcomeUnknown``:
/// then the change may have been committed.
///
/// All methods throw ``StoreError`` if the store itself fails; errors of single items are in the
/// outcomes. ``StoreError/Code/overloaded`` is thrown at once if too many writes wait.
public protocol Store: QuotaStore, SharedStore, StoreHealth, DamageReporting {
  // Databases and their contents
  /// The databases by their addresses, and the storage that they use.
  var databases: any DatabaseStore { get }
  /// The zones of a database.
  var zones: any ZoneStore { get }
  /// The records: saves, deletions, fetches and searches.
  var records: any RecordReading & RecordWriting { get }
  /// The changes of records and zones since a client's last fetch.
  var changeFeeds: any ChangeFeedStore { get }
  /// The uploads of assets, and the records that hold them.
  var assets: any AssetRegistry { get }
  /// The schemas of containers, and the security roles in them.
  var schemas: any SchemaStore & RoleStore { get }
  /// The subscriptions, by user for clients and by database for the matching index.
  var subscriptions: any SubscriptionStore & SubscriptionFeed { get }

  // From a change to its pushes
  /// The committed changes that the dispatcher still has to match.
  var outbox: any OutboxStore { get }
  /// The registered devices, browsers, webhooks and courier readers.
  var devices: any DeviceStore { get }
  /// The queue of pushes that wait for the delivery worker.
  var deliveries: any DeliveryQueue { get }
  /// The log of notifications that clients fetch and mark as read.
  var notificationLog: any NotificationLogStore { get }
  /// The notification log as readers of the web courier get it.
  var courier: any CourierStore { get }
  /// The dispatched changes and their notifications, for explanations.
  var changeHistory: any ChangeHistoryStore { get }

  // Users and programs
  /// The accounts of users: passwords, sessions, identities and discovery.
  var accounts: any AccountStore & SignInStore & SessionStore & DiscoveryStore { get }
  /// The API tokens and server-to-server keys of programs.
  var credentials: any CredentialStore & SignatureStore { get }
  /// The secrets that all servers on the store share.
  var secrets: any SecretStore { get }
  /// The deletions of users, and the export of a user's data.
  var userDeletion: any UserDeletionStore & UserHoldingsStore { get }

  // Administrators
  /// The keys of administrators and their sessions in the console.
  var adminAccess: any AdminKeyStore & ConsoleSessionStore { get }
  /// The lists of the store's contents for administrators.
  var administration: any AdministrationStore { get }
  /// The background work that the server calls from time to time.
  var maintenance: any Maintenance { get }

  /// Finishes the calls under way and closes; later calls throw ``StoreError/Code/closed``.
  func close() async
}

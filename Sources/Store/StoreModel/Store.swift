/// The whole store of a server, with one protocol for each subject.
///
/// Only the code that opens a store or starts a server uses the whole protocol. It passes to each
/// part of the server only the protocols that the part needs. The file of a protocol has the
/// protocol's name, and is in the folder of the subject.
///
/// ```swift
/// let user = try await store.accounts.user(named: "alice")
/// ```
///
/// A write is durable when its call returns, even if the power fails right after. Most calls that
/// write are one transaction: if such a call throws, it has changed nothing. As an exception, after
/// ``StoreError/Code/outcomeUnknown`` the change may have been committed. The documentation says so
/// if a call has several transactions. In a distributed store, a call about several databases has a
/// transaction for each of them.
///
/// Writes that wait at the same time can share one commit. In it, each write succeeds or is rolled
/// back by itself.
///
/// All methods that can throw throw ``StoreError`` if the store itself fails. If too many calls
/// wait, they throw ``StoreError/Code/overloaded`` at once. Failures of single items are in the
/// outcomes (``ItemFailure``).
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
  /// The assets: uploads, receipts, and the records that hold each file.
  var assets: any AssetRegistry { get }
  /// The shares, as others than their owners find them.
  var shares: any ShareStore { get }
  /// The schemas of containers, and the security roles in them.
  var schemas: any SchemaStore & RoleStore { get }
  /// The subscriptions: those of one user for clients, and those of a whole database for the
  /// matching index.
  var subscriptions: any SubscriptionStore & SubscriptionFeed { get }

  // From a change to its pushes
  /// The committed changes that wait to be matched against subscriptions.
  var outbox: any OutboxStore { get }
  /// The registered devices, browsers, webhooks and courier readers.
  var devices: any DeviceStore { get }
  /// The queue of pushes that wait for the delivery worker.
  var deliveries: any DeliveryQueue { get }
  /// The log of notifications that clients fetch and mark as read.
  var notificationLog: any NotificationLogStore { get }
  /// The notification log for readers of the web courier.
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
  /// The shares of all users, and changes of them by administrators.
  var shareAdministration: any ShareAdministration { get }
  /// The background work, which servers start from time to time.
  var maintenance: any Maintenance { get }

  /// Closes the store. The method returns when the calls under way have ended. Later calls throw
  /// ``StoreError/Code/closed``.
  func close() async
}

/// The whole store of a server, with one protocol for each subject.
///
/// Only the code that opens a store or starts a server takes all of it. That code gives each part
/// of the server the protocols that the part needs. Each protocol stands in the folder of its
/// subject, in a file of its name.
///
/// ```swift
/// let user = try await store.accounts.user(named: "alice")
/// ```
///
/// Every write is one transaction and durable when the call returns, even if the power fails at
/// that moment. Waiting writes share one commit, in which each succeeds or is rolled back by itself.
/// A call that throws has changed nothing.
///
/// All methods throw ``StoreError`` if the store itself fails; errors of single items are in the
/// outcomes. ``StoreError/Code/overloaded`` is thrown at once if too many writes wait.
public protocol Store: QuotaStore, SharedStore, StoreHealth, DamageReporting {
  // Databases and their contents
  var databases: any DatabaseStore { get }
  var zones: any ZoneStore { get }
  var records: any RecordReading & RecordWriting { get }
  var changeFeeds: any ChangeFeedStore { get }
  var assets: any AssetRegistry { get }
  var schemas: any SchemaStore & RoleStore { get }
  var subscriptions: any SubscriptionStore & SubscriptionFeed { get }

  // From a change to its pushes
  var outbox: any OutboxStore { get }
  var devices: any DeviceStore { get }
  var deliveries: any DeliveryQueue { get }
  var notificationLog: any NotificationLogStore { get }
  var courier: any CourierStore { get }
  var changeHistory: any ChangeHistoryStore { get }

  // Users and programs
  var accounts: any AccountStore & SignInStore & SessionStore & DiscoveryStore { get }
  var credentials: any CredentialStore & SignatureStore { get }
  var secrets: any SecretStore { get }
  var userDeletion: any UserDeletionStore & UserHoldingsStore { get }

  // Administrators
  var adminAccess: any AdminKeyStore & ConsoleSessionStore { get }
  var administration: any AdministrationStore { get }
  var maintenance: any Maintenance { get }

  /// Finishes the calls under way and closes; later calls throw ``StoreError/Code/closed``.
  func close() async
}

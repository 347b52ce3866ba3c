/// The whole store behind the server: what it has for each subject, behind a protocol of its own.
///
/// Only the code that opens a store or starts a server takes all of it, and hands each part of the
/// server the protocols that the part needs. A protocol stands in the folder of its subject, in a file
/// of its name.
///
/// ```swift
/// let user = try await store.accounts.user(named: "alice")
/// ```
///
/// Every write is one transaction and is durable when the call returns: power may go at that
/// moment. Writes that wait at the same time share one commit, each under its own savepoint, so
/// that a request's atomicity is its own. A call that throws has kept nothing.
///
/// All methods throw ``StoreError`` when the store itself fails; what is wrong with single items is
/// in the outcomes. ``StoreError/Code/overloaded`` is thrown at once when too many writes wait.
public protocol Store: QuotaStore, SharedStore, StoreHealth, DamageReporting {
  // Databases and what is in them
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

  // Those who run the server
  var adminAccess: any AdminKeyStore & ConsoleSessionStore { get }
  var administration: any AdministrationStore { get }
  var maintenance: any Maintenance { get }

  /// Finishes what is under way and closes; calls after that throw ``StoreError/Code/closed``.
  func close() async
}

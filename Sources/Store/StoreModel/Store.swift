/// The whole store behind the server.
///
/// Only the code that opens a store or starts a server takes all of it, and hands each part of the
/// server the protocols that the part needs. A protocol stands in the folder of its subject, in a file
/// of its name.
///
/// Every write is one transaction and is durable when the call returns: power may go at that
/// moment. Writes that wait at the same time share one commit, each under its own savepoint, so
/// that a request's atomicity is its own. A call that throws has kept nothing.
///
/// All methods throw ``StoreError`` when the store itself fails; what is wrong with single items is
/// in the outcomes. ``StoreError/Code/overloaded`` is thrown at once when too many writes wait.
public protocol Store:
  // Databases and what is in them
  DatabaseStore, ZoneStore, RecordReading, RecordWriting, ChangeFeedStore, AssetRegistry,
  SchemaStore, RoleStore, SubscriptionStore,
  // From a change to its pushes
  SubscriptionFeed, OutboxStore, DeviceStore, DeliveryQueue, NotificationLogStore, CourierStore,
  ChangeHistoryStore,
  // Users and programs
  AccountStore, SignInStore, SessionStore, DiscoveryStore, CredentialStore, SignatureStore,
  UserDeletionStore, UserHoldingsStore,
  // Those who run the server
  AdminKeyStore, ConsoleSessionStore, AdministrationStore,
  // The store itself
  SecretStore, QuotaStore, SharedStore, Maintenance, StoreHealth, DamageReporting
{
  /// Finishes what is under way and closes; calls after that throw ``StoreError/Code/closed``.
  func close() async
}

import StoreModel

/// The contents of one database, as clients read them.
///
/// The services of a database that does not exist yet are others than those of the store. They find
/// the database empty, with its default zone, and change nothing.
public struct DatabaseContents: Sendable {
  /// The number of the database; `DatabaseID.vacant` if it does not exist.
  public let database: DatabaseID
  /// The service that lists its zones.
  public let zones: ZoneService
  /// The service that fetches and finds its records.
  public let records: RecordService
  /// The service that reads its change feeds.
  public let changeFeeds: ChangeFeedService
  /// The service that lists its subscriptions.
  public let subscriptions: SubscriptionService

  /// Bundles services that read the same database.
  public init(
    of database: DatabaseID, zones: ZoneService, records: RecordService,
    changeFeeds: ChangeFeedService, subscriptions: SubscriptionService
  ) {
    self.database = database
    self.zones = zones
    self.records = records
    self.changeFeeds = changeFeeds
    self.subscriptions = subscriptions
  }
}

/// The limits that CloudKit documents, and the limits that every Petrel server has.
///
/// A new limit also needs an entry in ``all``, which reports the limits to clients.
public enum ServiceLimits {
  /// The largest number of operations in one request. Apple's web reference allows 200, and Apple's
  /// native framework 400.
  public static let operationsPerRequest = 400
  /// The largest number of records, or of other items, in one page of an answer.
  public static let recordsPerPage = 200
  /// Returns the page size for a request that asks for `count` items: at most ``recordsPerPage``. A
  /// `count` of 0 also gives ``recordsPerPage``.
  public static func pageSize(askedFor count: Int) -> Int {
    count == 0 ? recordsPerPage : min(count, recordsPerPage)
  }
  /// The number of bytes of stored changes after which an answer of `changes/zone` or
  /// `records/changes` ends. The remaining zones of the request then report `moreComing`.
  public static let changesPageSize = 4 << 20
  /// The number of bytes of stored contents after which an answer of `notifications/changes` ends.
  public static let notificationsPageSize = 1 << 20
  /// The largest number of characters in the name of a record, zone, record type, field or role, in
  /// a subscription's ID, and in a request's ID.
  public static let nameLength = 255
  /// The largest number of bytes of a container's identifier.
  public static let containerIdentifierSize = 255
  /// The largest number of bytes of a device's APNs token. Apple does not fix the length; today's
  /// tokens have 32 bytes.
  public static let deviceTokenSize = 256
  /// The largest number of containers and environments for which one token of the web courier may
  /// be registered.
  public static let containersPerCourierToken = 16
  /// The largest number of bytes of `clientChangeTokenData`, the data that a client stores with its
  /// changes.
  public static let clientChangeTokenSize = 10_000
  /// The largest number of bytes of a record's fields, without its assets.
  public static let recordSize = 1_000_000
  /// The largest number of bytes of an asset.
  public static let assetSize = 50_000_000
  /// The largest number of assets in one `assets/upload` or `assets/rereference` request.
  public static let assetsPerRequest = 200
  /// The number of seconds within which an upload must begin. They count from the answer that
  /// contains the upload URL.
  public static let uploadURLLifetime = 15 * 60
  /// The largest number of bytes of the fields of all records in one request, without assets. For a
  /// request with a single record, only ``recordSize`` applies.
  public static let recordsSizePerRequest = 2_000_000
  /// The largest number of bytes of a request's body. A request may hold about 2 MB of records, and
  /// Base64 makes bytes a third longer.
  public static let requestBodySize = 8 << 20
  /// The largest number of fields whose values a push may carry (`desiredKeys`).
  public static let desiredKeysPerSubscription = 3
  /// The number of characters after which a string in a push is cut.
  public static let pushStringLength = 100
  /// The largest number of bytes of a collapse ID, the value of `apns-collapse-id`.
  public static let collapseIdentifierSize = 64
  /// The largest badge that a client can set. Notifications may raise the badge beyond this limit.
  public static let badge = Int(Int32.max)
  /// The largest number of bytes of a push payload for APNs.
  public static let pushPayloadSize = 4096
  /// The largest number of bytes of a Web Push payload. The encrypted message then has at most
  /// 4,096 bytes (RFC 8291, section 4).
  public static let webPushPayloadSize = 3993
  /// The largest number of `deleteSelf` references to one record.
  public static let deleteSelfReferencesPerTarget = 750
  /// The largest number of ancestors of a record: its parent, the parent of its parent, and so on.
  public static let ancestorsPerRecord = 100
  /// The largest number of descendants that a record may have when its parent changes.
  public static let movedDescendants = 5_000
  /// The largest number of participants of a share, its owner included.
  public static let participantsPerShare = 100
  /// The largest number of other users' zones in which a user can take part.
  public static let sharedZonesPerUser = 1_000
  /// The largest number of users who have requested access to a share and have no answer yet.
  public static let requestersPerShare = 100
  /// The largest number of users whose requests for access a share ignores.
  public static let blockedPerShare = 100
  /// The largest number of filters in one query or subscription.
  public static let filtersPerQuery = 100
  /// The largest number of values in the list of one filter.
  public static let valuesPerFilter = 500
  /// The largest number of different words that one filter searches for.
  public static let wordsPerFilter = 500
}

/// The limits that CloudKit documents, and those that hold for each server, in one place.
///
/// ``all`` names each of them for clients: a new one goes there too.
public enum ServiceLimits {
  /// Operations in one request.
  public static let operationsPerRequest = 400
  /// Records in one page of an answer.
  public static let recordsPerPage = 200
  /// Records in a page for a request that asks for so many; 0 leaves it to the server.
  public static func pageSize(askedFor count: Int) -> Int {
    count == 0 ? recordsPerPage : min(count, recordsPerPage)
  }
  /// Bytes of stored changes after which an answer of `changes/zone` or `records/changes` ends. The zones
  /// behind have more coming.
  public static let changesPageSize = 4 << 20
  /// Bytes of stored contents after which an answer of `notifications/changes` ends.
  public static let notificationsPageSize = 1 << 20
  /// Characters of the name of a record, zone, record type, field or role, of a subscription's ID and of a
  /// request's ID.
  public static let nameLength = 255
  /// Bytes of a container's identifier.
  public static let containerIdentifierSize = 255
  /// Bytes of a device's APNs token. Apple does not fix the length; today's have 32.
  public static let deviceTokenSize = 256
  /// Containers in which one token of the web courier may listen.
  public static let containersPerCourierToken = 16
  /// Bytes of the data that a client leaves with its changes (`clientChangeTokenData`).
  public static let clientChangeTokenSize = 10_000
  /// Bytes of a record's fields, assets not counted.
  public static let recordSize = 1_000_000
  /// Bytes of an asset.
  public static let assetSize = 50_000_000
  /// Assets in one `assets/upload` or `assets/rereference` request.
  public static let assetsPerRequest = 200
  /// Seconds in which an upload must begin, from the answer that has its URL.
  public static let uploadURLLifetime = 15 * 60
  /// Bytes of the fields of all records in one request, assets not counted.
  public static let recordsSizePerRequest = 2_000_000
  /// Bytes of a request's body. Base64 makes the bytes of a 1 MB record a third larger, and a
  /// request may hold about 2 MB of records.
  public static let requestBodySize = 8 << 20
  /// Fields whose values a push may carry.
  public static let desiredKeysPerSubscription = 3
  /// Characters of a string in a push before it is cut.
  public static let pushStringLength = 100
  /// Bytes of the value of `apns-collapse-id`.
  public static let collapseIdentifierSize = 64
  /// The largest badge that can be set: one can count on from it without end.
  public static let badge = Int(Int32.max)
  /// Bytes of a push payload.
  public static let pushPayloadSize = 4096
  /// Bytes of a payload that fits into a Web Push message of 4,096 bytes once it is encrypted
  /// (RFC 8291, section 4).
  public static let webPushPayloadSize = 3993
  /// `deleteSelf` references to one record.
  public static let deleteSelfReferencesPerTarget = 750
  /// Filters in one query or subscription.
  public static let filtersPerQuery = 100
  /// Values in the list of one filter.
  public static let valuesPerFilter = 500
  /// Different words that one filter looks for.
  public static let wordsPerFilter = 500
}

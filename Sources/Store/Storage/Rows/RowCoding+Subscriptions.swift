import CloudKitModel

extension Subscription: RowCodable {
  static let rowName: StaticString = "subscription"
  static let blank = Subscription(subscriptionID: "", kind: .database(recordType: nil))

  static let idTag = RowTags(1)
  static let kindTags = RowTags(2, 3, 4)

  mutating func code<Coder: RowCoder>(_ coder: inout Coder) throws(Coder.Failure) {
    try coder.required(1, "subscriptionID", &subscriptionID)
    try coder.choice(2, "query", QueryKind(kind)) {
      kind = .query($0.query, zoneID: $0.zoneID, options: $0.options)
    }
    try coder.choice(3, "zone", ZoneKind(kind)) {
      kind = .recordZone($0.zoneID, recordType: $0.recordType)
    }
    try coder.choice(4, "database", DatabaseKind(kind)) {
      kind = .database(recordType: $0.recordType)
    }
    try coder.endChoice()
    try coder.field(5, "notificationInfo", &notificationInfo)
  }
}

/// The associated values of a query subscription.
private struct QueryKind: RowCodable {
  var query: Query
  var zoneID: ZoneID?
  var options: Subscription.Options = []

  static let rowName: StaticString = "query subscription"
  static let blank = QueryKind(query: .blank)

  mutating func code<Coder: RowCoder>(_ coder: inout Coder) throws(Coder.Failure) {
    try coder.required(1, "query", &query)
    try coder.field(2, "zoneID", &zoneID)
    try coder.field(3, "options", &options, default: [])
  }
}

/// The associated values of a zone subscription.
private struct ZoneKind: RowCodable {
  var zoneID: ZoneID
  var recordType: String?

  static let rowName: StaticString = "zone subscription"
  static let blank = ZoneKind(zoneID: .default)

  mutating func code<Coder: RowCoder>(_ coder: inout Coder) throws(Coder.Failure) {
    try coder.required(1, "zoneID", &zoneID)
    try coder.field(2, "recordType", &recordType)
  }
}

/// The associated values of a database subscription.
private struct DatabaseKind: RowCodable {
  var recordType: String?

  static let rowName: StaticString = "database subscription"
  static let blank = DatabaseKind()

  mutating func code<Coder: RowCoder>(_ coder: inout Coder) throws(Coder.Failure) {
    try coder.field(1, "recordType", &recordType)
  }
}

extension QueryKind {
  init?(_ kind: Subscription.Kind) {
    guard case .query(let query, let zoneID, let options) = kind else { return nil }
    self.init(query: query, zoneID: zoneID, options: options)
  }
}

extension ZoneKind {
  init?(_ kind: Subscription.Kind) {
    guard case .recordZone(let zoneID, let recordType) = kind else { return nil }
    self.init(zoneID: zoneID, recordType: recordType)
  }
}

extension DatabaseKind {
  init?(_ kind: Subscription.Kind) {
    guard case .database(let recordType) = kind else { return nil }
    self.init(recordType: recordType)
  }
}

extension Subscription.Options: RowPart {
  static var wire: RowWire { .number }
  static var blank: Self { [] }

  func write(to encoder: inout RowEncoder) {
    encoder.encode(Int64(truncatingIfNeeded: rawValue))
  }

  mutating func read(from decoder: inout RowDecoder) throws {
    self = Subscription.Options(rawValue: UInt(truncatingIfNeeded: try decoder.decodeInteger()))
  }
}

extension NotificationInfo: RowCodable {
  static let rowName: StaticString = "notification info"
  static let blank = NotificationInfo()

  mutating func code<Coder: RowCoder>(_ coder: inout Coder) throws(Coder.Failure) {
    try coder.field(1, "alertBody", &alertBody)
    try coder.field(2, "alertLocalizationKey", &alertLocalizationKey)
    try coder.field(3, "alertLocalizationArgs", &alertLocalizationArgs)
    try coder.field(4, "title", &title)
    try coder.field(5, "titleLocalizationKey", &titleLocalizationKey)
    try coder.field(6, "titleLocalizationArgs", &titleLocalizationArgs)
    try coder.field(7, "subtitle", &subtitle)
    try coder.field(8, "subtitleLocalizationKey", &subtitleLocalizationKey)
    try coder.field(9, "subtitleLocalizationArgs", &subtitleLocalizationArgs)
    try coder.field(10, "alertActionLocalizationKey", &alertActionLocalizationKey)
    try coder.field(11, "alertLaunchImage", &alertLaunchImage)
    try coder.field(12, "soundName", &soundName)
    try coder.field(13, "desiredKeys", &desiredKeys)
    try coder.field(14, "shouldBadge", &shouldBadge, default: false)
    try coder.field(15, "shouldSendContentAvailable", &shouldSendContentAvailable, default: false)
    try coder.field(16, "shouldSendMutableContent", &shouldSendMutableContent, default: false)
    try coder.field(17, "category", &category)
    try coder.field(18, "collapseIDKey", &collapseIDKey)
  }
}

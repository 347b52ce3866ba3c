import CloudKitModel

extension SilenceReason {
  /// Returns all reasons why a subscription with its present content does not fire on a change, in
  /// the order of the server's checks. The result is empty if the subscription fires.
  ///
  /// - Parameter refusal: the reason why the subscriber may not read the record; nil if the
  ///   subscriber may read it.
  static func reasons(
    against subscription: Subscription, for change: Change, _ refusal: AccessRefusal?
  ) -> [SilenceReason] {
    var reasons: [SilenceReason]
    switch subscription.kind {
    case .query(let query, let zoneID, let options):
      reasons = Self.reasons(against: query, in: zoneID, on: options, for: change)
    case .recordZone(let zoneID, let recordType):
      reasons = Self.reasons(inFeedOf: zoneID, recordType: recordType, for: change)
    case .database(let recordType):
      reasons = Self.reasons(inFeedOf: nil, recordType: recordType, for: change)
    }
    if let refusal {
      reasons.append(
        SilenceReason(
          .permission, "the record cannot be read: \(refusal.reason(for: "the subscriber"))"))
    }
    return reasons
  }

  private static func reasons(
    against query: Query, in zoneID: ZoneID?, on options: Subscription.Options, for change: Change
  ) -> [SilenceReason] {
    var reasons: [SilenceReason] = []
    guard let record = change.record, let needed = change.event.queryOption else {
      return [
        SilenceReason(.event, "a query subscription fires on changes of records, not of zones")
      ]
    }
    if record.recordType != query.recordType {
      reasons.append(
        SilenceReason(
          .recordType,
          "the subscription is for records of type '\(query.recordType)', and this record is of type "
            + "'\(record.recordType)'"))
    }
    if !options.contains(needed) {
      reasons.append(
        SilenceReason(
          .event,
          "the record was \(change.event.text), and the subscription fires on \(options.text)"))
    }
    if let zoneID, zoneID != change.zoneID {
      reasons.append(
        SilenceReason(
          .zone,
          "the subscription is for records in \(zoneID), and this record is in \(change.zoneID)"))
    }
    // For a record of another type, the results of the filters would not help the reader.
    guard record.recordType == query.recordType else { return reasons }
    for filter in query.filters where !filter.matches(record) {
      let value = record.value(for: filter.key)
      reasons.append(
        SilenceReason(
          .filter, "\(filter.text) does not hold: \(saw(value, by: filter, in: record))",
          filter: filter, value: value))
    }
    return reasons
  }

  /// Returns the end of a sentence about the value that a filter compared.
  private static func saw(
    _ value: RecordValue?, by filter: Filter, in record: Record
  ) -> String {
    if let value { return "it is \(value.text)" }
    switch filter.key {
    case .field(let name) where record.encryptedFields.contains(name):
      return "the field is encrypted, so filters do not see it"
    case .allText: return "no text of the record contains it"
    default: return "the record has no such field"
    }
  }

  /// Returns the reasons of a zone subscription, or of a database subscription if `zoneID` is nil.
  private static func reasons(
    inFeedOf zoneID: ZoneID?, recordType: String?, for change: Change
  ) -> [SilenceReason] {
    var reasons: [SilenceReason] = []
    if change.zoneID.isDefaultZone {
      let kind = zoneID == nil ? "database" : "zone"
      reasons.append(
        SilenceReason(
          .defaultZone, "a \(kind) subscription does not fire on changes in the default zone"))
    } else if let zoneID, zoneID != change.zoneID {
      reasons.append(
        SilenceReason(
          .zone,
          "the subscription is for changes in \(zoneID), and this change is in \(change.zoneID)"))
    }
    if let recordType, recordType != change.record?.recordType {
      let other = change.record.map { "a record of type '\($0.recordType)'" } ?? "the zone itself"
      reasons.append(
        SilenceReason(
          .recordType,
          "the subscription is for records of type '\(recordType)', and this change is of \(other)")
      )
    }
    return reasons
  }
}

extension ChangeEvent {
  /// The event as a participle, for people.
  public var text: String {
    switch self {
    case .recordCreated, .zoneCreated: "created"
    case .recordUpdated: "updated"
    case .recordDeleted, .zoneDeleted: "deleted"
    }
  }
}

extension Subscription.Options {
  /// The events as a list, for people.
  public var text: String {
    var words: [String] = []
    if contains(.firesOnRecordCreation) { words.append("creation") }
    if contains(.firesOnRecordUpdate) { words.append("update") }
    if contains(.firesOnRecordDeletion) { words.append("deletion") }
    return words.isEmpty ? "nothing" : words.joined(separator: " and ")
  }
}

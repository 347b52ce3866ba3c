import CloudKitModel
import Foundation
import StoreModel

/// The settings of a share that no statement searches.
struct ShareSettings: RowCodable {
  var ownerID = ""
  /// Whether requests for access are ignored.
  var deniesAccessRequests = true

  static let rowName: StaticString = "share"
  static let blank = ShareSettings()

  mutating func code<Coder: RowCoder>(_ coder: inout Coder) throws(Coder.Failure) {
    try coder.field(1, "ownerID", &ownerID, default: "")
    try coder.field(2, "deniesAccessRequests", &deniesAccessRequests, default: true)
  }
}

/// The properties of a participant that no statement searches.
struct ParticipantDetails: RowCodable {
  /// The address or the name by which the participant was added.
  var lookup: UserLookup?
  var isApprovedRequester = false
  var added: Timestamp?
  /// For a single use; nil for a participant with an identity.
  var link: Int64?
  var removed: Timestamp?

  static let rowName: StaticString = "participant"
  static let blank = ParticipantDetails()

  mutating func code<Coder: RowCoder>(_ coder: inout Coder) throws(Coder.Failure) {
    try coder.field(1, "lookup", &lookup)
    try coder.field(2, "isApprovedRequester", &isApprovedRequester, default: false)
    var milliseconds = added?.milliseconds
    try coder.field(3, "added", &milliseconds)
    added = milliseconds.map { Timestamp(milliseconds: $0) }
    try coder.field(4, "link", &link)
    var removedMilliseconds = removed?.milliseconds
    try coder.field(5, "removed", &removedMilliseconds)
    removed = removedMilliseconds.map { Timestamp(milliseconds: $0) }
  }
}

extension ShareAudience: RowCodable {
  static let rowName: StaticString = "audience"
  static let blank = ShareAudience()

  mutating func code<Coder: RowCoder>(_ coder: inout Coder) throws(Coder.Failure) {
    try coder.field(1, "shares", &shares, default: [])
    try coder.field(2, "departed", &departed, default: [])
  }
}

extension UserLookup: RowCodable {
  static let rowName: StaticString = "user lookup"
  static let blank = UserLookup()

  mutating func code<Coder: RowCoder>(_ coder: inout Coder) throws(Coder.Failure) {
    try coder.field(1, "emailAddress", &emailAddress)
    try coder.field(2, "phoneNumber", &phoneNumber)
    try coder.field(3, "userRecordName", &userRecordName)
  }
}

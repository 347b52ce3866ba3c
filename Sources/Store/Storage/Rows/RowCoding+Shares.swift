import CloudKitModel
import Foundation

/// The settings of a share that no statement searches.
struct ShareSettings: RowCodable {
  /// The identifier of the owner among the participants.
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
  /// Whether the participant had requested access before.
  var isApprovedRequester = false
  /// The time of the save that added the participant.
  var added: Timestamp?
  /// The number of the participant's link for a single use; nil for a participant with an identity.
  var link: Int64?

  static let rowName: StaticString = "participant"
  static let blank = ParticipantDetails()

  mutating func code<Coder: RowCoder>(_ coder: inout Coder) throws(Coder.Failure) {
    try coder.field(1, "lookup", &lookup)
    try coder.field(2, "isApprovedRequester", &isApprovedRequester, default: false)
    var milliseconds = added?.milliseconds
    try coder.field(3, "added", &milliseconds)
    added = milliseconds.map { Timestamp(milliseconds: $0) }
    try coder.field(4, "link", &link)
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

import CloudKitModel

extension SharePermission: MessagePart {}
extension ShareAcceptance: MessagePart {}
extension ShareRole: MessagePart {}

/// The members of a record of type `cloudkit.share` beside its fields.
extension ShareContent: MessageObject {
  package static let blank = ShareContent()

  package mutating func code<Coder: MessageCoder & ~Copyable>(
    _ coder: inout Coder
  ) throws(Coder.Failure) {
    try coder.optional("forRecord", &root, "The record at the top of the shared hierarchy.")
    try coder.written("publicPermission", &publicPermission)
    try coder.written("participants", &participants)
    try coder.optional("owner", &owner)
    try coder.optional("currentUserParticipant", &currentParticipant)
    try coder.optional("shortGUID", &shortGUID)
    try coder.optional("webpageURL", &url)
  }
}

/// The object `forRecord` of a request that creates a share.
extension ShareContent.Root: MessageObject {
  package static let blank = ShareContent.Root(recordName: "")

  package mutating func code<Coder: MessageCoder & ~Copyable>(
    _ coder: inout Coder
  ) throws(Coder.Failure) {
    try coder.required("recordName", &recordName)
    try coder.optional("recordChangeTag", &recordChangeTag)
  }
}

/// The participant dictionary of Apple's reference. `participantId` and `oneTimeURL` are optional.
extension ShareParticipant: MessageObject {
  package static let schemaName: String? = "ShareParticipant"
  package static let blank = ShareParticipant(
    participantID: nil, role: .unknown, permission: .none, acceptance: .unknown,
    identity: UserIdentity(), oneTimeURL: nil)

  package mutating func code<Coder: MessageCoder & ~Copyable>(
    _ coder: inout Coder
  ) throws(Coder.Failure) {
    try coder.optional("participantId", &participantID)
    try coder.required("type", &role)
    try coder.required("permission", &permission)
    try coder.required("acceptanceStatus", &acceptance)
    try coder.written("userIdentity", &identity)
    try coder.optional("oneTimeURL", &oneTimeURL)
  }
}

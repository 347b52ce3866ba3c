import CloudKitModel
import Foundation
import JSONCoding

/// An answer about users. It has their record names, also that of the caller, whatever the request asks
/// (``MessageContext/namesCallerByDefault``): a client learns its user's record name from it.
package protocol AnswerAboutUsers: Message, MessageObject {}

extension AnswerAboutUsers {
  package func write(to writer: inout JSONWriter, context: MessageContext) {
    var context = context
    context.namesCallerByDefault = false
    writer.beginObject()
    writeMembers(to: &writer, context: context)
    writer.endObject()
  }
}

/// The answer of `users/caller`.
///
/// In Apple's reference, the answer has the list `users` with one user. CloudKit JS and MistKit
/// expect the user's members directly in the answer. Petrel's answer has both.
public struct UserResponse: Sendable, Hashable {
  /// The record name of the caller.
  public var userRecordName: String
  /// The name of the caller; nil when it is unknown.
  public var nameComponents: PersonNameComponents?
  /// The addresses of the caller; nil when none is known.
  public var lookup: UserLookup?

  /// Creates an answer.
  public init(
    userRecordName: String, nameComponents: PersonNameComponents? = nil, lookup: UserLookup? = nil
  ) {
    self.userRecordName = userRecordName
    self.nameComponents = nameComponents
    self.lookup = lookup
  }
}

extension UserResponse: AnswerAboutUsers {
  package static let blank = UserResponse(userRecordName: "")

  /// Passes to the coder the caller's members, and the list `users` with the same user. The list of
  /// a message that is read is not used.
  package mutating func code<Coder: MessageCoder & ~Copyable>(
    _ coder: inout Coder
  ) throws(Coder.Failure) {
    var users = [
      UserIdentity(
        userRecordName: userRecordName, nameComponents: nameComponents, lookup: lookup)
    ]
    try coder.required("userRecordName", &userRecordName)
    try coder.optional("nameComponents", &nameComponents)
    try coder.optional("lookupInfo", &lookup)
    try coder.written(
      "users", &users, "The same user, in the form of Apple's reference.")
  }
}

/// The answer of `users/current`, an older operation that `users/caller` has replaced.
public struct CurrentUserResponse: Sendable, Hashable {
  /// The record name of the caller.
  public var userRecordName: String
  /// The given name of the caller; nil when it is unknown.
  public var firstName: String?
  /// The family name of the caller; nil when it is unknown.
  public var lastName: String?
  /// The e-mail address of the caller; nil when it is unknown.
  public var emailAddress: String?

  /// Creates an answer.
  public init(
    userRecordName: String, firstName: String?, lastName: String?, emailAddress: String?
  ) {
    self.userRecordName = userRecordName
    self.firstName = firstName
    self.lastName = lastName
    self.emailAddress = emailAddress
  }
}

extension CurrentUserResponse: AnswerAboutUsers {
  package static let blank = CurrentUserResponse(
    userRecordName: "", firstName: nil, lastName: nil, emailAddress: nil)

  package mutating func code<Coder: MessageCoder & ~Copyable>(
    _ coder: inout Coder
  ) throws(Coder.Failure) {
    try coder.required("userRecordName", &userRecordName)
    try coder.freeText("firstName", &firstName)
    try coder.freeText("lastName", &lastName)
    try coder.optional("emailAddress", &emailAddress)
  }
}

// MARK: Finding others

/// An operation that finds users, with its names in messages.
package protocol UserSearchKind: Sendable {
  static var listName: String { get }
  /// Whether the list may be absent, which asks for all users.
  static var mayAskForAll: Bool { get }
  /// The members for an entry of the list. Each entry must have at least one of these members.
  static var members: [UserLookup.Member] { get }
}

extension UserLookup {
  /// The members of a lookup. The raw values are the names in messages.
  package enum Member: String {
    case emailAddress, phoneNumber, userRecordName
  }

  fileprivate func has(_ member: Member) -> Bool {
    switch member {
    case .emailAddress: emailAddress != nil
    case .phoneNumber: phoneNumber != nil
    case .userRecordName: userRecordName != nil
    }
  }
}

/// The operation `users/discover` with a body.
package enum UserDiscovery: UserSearchKind {
  package static let listName = "lookupInfos"
  package static let mayAskForAll = false
  package static let members: [UserLookup.Member] = [
    .emailAddress, .phoneNumber, .userRecordName,
  ]
}

/// The operation `users/lookup/email`.
package enum UserSearchByEmail: UserSearchKind {
  package static let listName = "users"
  package static let mayAskForAll = false
  package static let members: [UserLookup.Member] = [.emailAddress]
}

/// The operation `users/lookup/id`.
package enum UserSearchByID: UserSearchKind {
  package static let listName = "users"
  package static let mayAskForAll = false
  package static let members: [UserLookup.Member] = [.userRecordName]
}

/// The operation `users/lookup/contacts`. Without contacts, the operation lists all users who
/// permit discovery.
package enum UserSearchByContact: UserSearchKind {
  package static let listName = "contacts"
  package static let mayAskForAll = true
  package static let members: [UserLookup.Member] = [.emailAddress, .phoneNumber]
}

/// The body of an operation that finds users.
///
/// For `users/discover`:
///
/// ```
/// { "lookupInfos": [ { "emailAddress": "mei@example.com" }, { "userRecordName": "_ab12…" } ] }
/// ```
package struct FindUsersRequest<Kind: UserSearchKind>: Sendable, Hashable {
  /// The users to find, in the order of the request; nil asks for all users.
  package var lookups: [UserLookup]?

  package init(lookups: [UserLookup]?) {
    self.lookups = lookups
  }
}

extension FindUsersRequest: Message, MessageObject {
  package static var blank: FindUsersRequest { FindUsersRequest(lookups: nil) }

  /// At most `ServiceLimits.operationsPerRequest` entries, under the operation's name for the list.
  package mutating func code<Coder: MessageCoder & ~Copyable>(
    _ coder: inout Coder
  ) throws(Coder.Failure) {
    var entries = lookups?.map { Entry(lookup: $0) }
    try coder.list(
      Kind.listName, &entries, count: 0...ServiceLimits.operationsPerRequest,
      isRequired: !Kind.mayAskForAll,
      "Each entry has \(Kind.members.map(\.rawValue).joined(separator: " or ")).")
    lookups = entries?.map(\.lookup)
  }

  /// An entry of the list, which must have at least one of the operation's members.
  private struct Entry: MessageObject {
    var lookup: UserLookup

    static var blank: Entry { Entry(lookup: UserLookup()) }

    /// Passes the members of the lookup to the coder. Reading an entry without any of the
    /// operation's members fails with `BAD_REQUEST`.
    ///
    /// The record name stays as the request has it, because the answer repeats the lookup and
    /// clients match the two.
    mutating func code<Coder: MessageCoder & ~Copyable>(
      _ coder: inout Coder
    ) throws(Coder.Failure) {
      try coder.optional("emailAddress", &lookup.emailAddress)
      try coder.optional("phoneNumber", &lookup.phoneNumber)
      try coder.optional("userRecordName", &lookup.userRecordName)
      let lookup = lookup
      try coder.check(nil) { () throws(ModelError) in
        guard Kind.members.contains(where: lookup.has) else {
          throw ModelError(
            .wrongType, "needs \(Kind.members.map(\.rawValue).joined(separator: " or "))")
        }
      }
    }
  }
}

/// The answer of `users/discover`. Each user has the address or name by which the user was found.
public struct UsersResponse: Sendable, Hashable {
  /// The users that were found. Users who do not permit discovery are missing.
  public var users: [UserIdentity]

  /// Creates an answer.
  public init(users: [UserIdentity]) {
    self.users = users
  }
}

extension UsersResponse: AnswerAboutUsers {
  package static let blank = UsersResponse(users: [])

  package mutating func code<Coder: MessageCoder & ~Copyable>(
    _ coder: inout Coder
  ) throws(Coder.Failure) {
    try coder.required("users", &users)
  }
}

/// The answer of `users/lookup/…`.
///
/// In Apple's reference, each user has the members of `users/current`, and CloudKit JS before 2.0
/// reads only these. Petrel adds the members of `users/discover`. The e-mail address is present
/// only when the user was found by it.
public struct LookedUpUsersResponse: Sendable, Hashable {
  /// The users that were found. Users who do not permit discovery are missing.
  public var users: [UserIdentity]

  /// Creates an answer.
  public init(users: [UserIdentity]) {
    self.users = users
  }
}

extension LookedUpUsersResponse: AnswerAboutUsers {
  package static let blank = LookedUpUsersResponse(users: [])

  package mutating func code<Coder: MessageCoder & ~Copyable>(
    _ coder: inout Coder
  ) throws(Coder.Failure) {
    var found = users.map { FoundUser(identity: $0) }
    try coder.required("users", &found)
    users = found.map(\.identity)
  }

  /// A user with the members of both operations.
  private struct FoundUser: MessageObject {
    var identity: UserIdentity

    static let schemaName: String? = "LookedUpUser"
    static let blank = FoundUser(identity: .blank)

    /// Passes to the coder the members of `users/discover`, then those of `users/current`. The
    /// decoder reads the members of `users/current` but does not use them.
    mutating func code<Coder: MessageCoder & ~Copyable>(
      _ coder: inout Coder
    ) throws(Coder.Failure) {
      try identity.code(&coder)
      var firstName = identity.nameComponents?.givenName
      var lastName = identity.nameComponents?.familyName
      var emailAddress = identity.lookup?.emailAddress
      try coder.freeText("firstName", &firstName)
      try coder.freeText("lastName", &lastName)
      try coder.optional("emailAddress", &emailAddress, "The address that found the user.")
    }
  }
}

// MARK: Permissions

extension ApplicationPermission: MessagePart {}
extension ApplicationPermission.Status: MessagePart {}

/// The answer of `users/permissions`, and the body that sets permissions. The operation is Petrel's
/// addition: Apple's platforms use a dialog and the system's settings instead.
///
/// ```
/// { "permissions": [ { "permission": "USER_DISCOVERABILITY", "status": "GRANTED" } ] }
/// ```
public struct PermissionsMessage: Sendable, Hashable {
  /// The decision of the caller about each permission. If a message names a permission twice, the
  /// last entry counts.
  public var statuses: [ApplicationPermission: ApplicationPermission.Status]

  /// Creates a message.
  public init(statuses: [ApplicationPermission: ApplicationPermission.Status]) {
    self.statuses = statuses
  }
}

extension PermissionsMessage: Message, MessageObject {
  package static let schemaName: String? = "Permissions"
  package static let blank = PermissionsMessage(statuses: [:])

  package mutating func code<Coder: MessageCoder & ~Copyable>(
    _ coder: inout Coder
  ) throws(Coder.Failure) {
    var items = statuses.sorted { $0.key.rawValue < $1.key.rawValue }
      .map { Item(permission: $0.key, status: $0.value) }
    try coder.required("permissions", &items)
    statuses = Dictionary(items.map { ($0.permission, $0.status) }) { $1 }
  }

  /// An entry of the list on the wire.
  private struct Item: MessageObject {
    var permission: ApplicationPermission
    var status: ApplicationPermission.Status

    static let blank = Item(permission: .userDiscoverability, status: .initialState)

    mutating func code<Coder: MessageCoder & ~Copyable>(
      _ coder: inout Coder
    ) throws(Coder.Failure) {
      try coder.required("permission", &permission)
      try coder.required("status", &status)
    }
  }
}

extension MessageContext {
  /// The context of messages that name no zones.
  package static let withoutZones = MessageContext(ownerNaming: .explicit)
}

import CloudKitModel
import Foundation
import JSONCoding

/// The answer of `users/caller`.
///
/// Apple's reference has it as a list of one user, `users`; CloudKit JS and MistKit read the members
/// of the user in its place. It has both.
public struct UserResponse: Sendable, Hashable {
  public var userRecordName: String
  public var nameComponents: PersonNameComponents?
  public var lookup: UserLookup?

  public init(
    userRecordName: String, nameComponents: PersonNameComponents? = nil, lookup: UserLookup? = nil
  ) {
    self.userRecordName = userRecordName
    self.nameComponents = nameComponents
    self.lookup = lookup
  }
}

extension UserResponse: Message, MessageObject {
  package static let blank = UserResponse(userRecordName: "")

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
      "users", &users, "The same user, as Apple's reference has the answer.")
  }
}

/// The answer of `users/current`, which `users/caller` has replaced.
public struct CurrentUserResponse: Sendable, Hashable {
  public var userRecordName: String
  public var firstName: String?
  public var lastName: String?
  public var emailAddress: String?

  public init(
    userRecordName: String, firstName: String?, lastName: String?, emailAddress: String?
  ) {
    self.userRecordName = userRecordName
    self.firstName = firstName
    self.lastName = lastName
    self.emailAddress = emailAddress
  }
}

extension CurrentUserResponse: Message, MessageObject {
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

/// How an operation that finds users has them named.
package protocol UserSearchKind: Sendable {
  /// The name of the list of users.
  static var listName: String { get }
  /// Whether the list may be absent, which asks for everyone.
  static var mayAskForAll: Bool { get }
  /// Of these members each entry must have one.
  static var members: [UserLookup.Member] { get }
}

extension UserLookup {
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

/// `users/discover`.
package enum UserDiscovery: UserSearchKind {
  package static let listName = "lookupInfos"
  package static let mayAskForAll = false
  package static let members: [UserLookup.Member] = [
    .emailAddress, .phoneNumber, .userRecordName,
  ]
}

/// `users/lookup/email`.
package enum UserSearchByEmail: UserSearchKind {
  package static let listName = "users"
  package static let mayAskForAll = false
  package static let members: [UserLookup.Member] = [.emailAddress]
}

/// `users/lookup/id`.
package enum UserSearchByID: UserSearchKind {
  package static let listName = "users"
  package static let mayAskForAll = false
  package static let members: [UserLookup.Member] = [.userRecordName]
}

/// `users/lookup/contacts`.
package enum UserSearchByContact: UserSearchKind {
  package static let listName = "contacts"
  package static let mayAskForAll = true
  package static let members: [UserLookup.Member] = [.emailAddress, .phoneNumber]
}

/// The body of an operation that finds users.
package struct FindUsersRequest<Kind: UserSearchKind>: Sendable, Hashable {
  /// In order; nil asks for everyone.
  package var lookups: [UserLookup]?

  package init(lookups: [UserLookup]?) {
    self.lookups = lookups
  }
}

extension FindUsersRequest: Message, MessageObject {
  package static var blank: FindUsersRequest { FindUsersRequest(lookups: nil) }

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

  private struct Entry: MessageObject {
    var lookup: UserLookup

    static var blank: Entry { Entry(lookup: UserLookup()) }

    mutating func code<Coder: MessageCoder & ~Copyable>(
      _ coder: inout Coder
    ) throws(Coder.Failure) {
      try lookup.code(&coder)
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

/// The answer of `users/discover`: those who were found. Each bears the lookup that found it.
public struct UsersResponse: Sendable, Hashable {
  public var users: [UserIdentity]

  public init(users: [UserIdentity]) {
    self.users = users
  }
}

extension UsersResponse: Message, MessageObject {
  package static let blank = UsersResponse(users: [])

  package mutating func code<Coder: MessageCoder & ~Copyable>(
    _ coder: inout Coder
  ) throws(Coder.Failure) {
    try coder.required("users", &users)
  }
}

/// The answer of `users/lookup/…`: those who were found.
///
/// Apple's reference has them as it has the answer of `users/current`, with the e-mail address only
/// where it was looked up, and CloudKit JS before 2.0 reads nothing else. The members of
/// `users/discover` stand beside them.
public struct LookedUpUsersResponse: Sendable, Hashable {
  public var users: [UserIdentity]

  public init(users: [UserIdentity]) {
    self.users = users
  }
}

extension LookedUpUsersResponse: Message, MessageObject {
  package static let blank = LookedUpUsersResponse(users: [])

  package mutating func code<Coder: MessageCoder & ~Copyable>(
    _ coder: inout Coder
  ) throws(Coder.Failure) {
    var found = users.map { FoundUser(identity: $0) }
    try coder.required("users", &found)
    users = found.map(\.identity)
  }

  private struct FoundUser: MessageObject {
    var identity: UserIdentity

    static let schemaName: String? = "LookedUpUser"
    static let blank = FoundUser(identity: .blank)

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

/// The answer of `users/permissions`, and the body that sets some: Petrel's own call, for what a
/// system's dialog and settings are on Apple's platforms.
public struct PermissionsMessage: Sendable, Hashable {
  public var statuses: [ApplicationPermission: ApplicationPermission.Status]

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
  /// For messages in which no zone is named.
  package static let withoutZones = MessageContext(ownerNaming: .explicit)
}

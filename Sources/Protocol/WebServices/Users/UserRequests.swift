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

  public init(parsing body: Data) throws(ServiceError) {
    let reader = try MessageReader(parsing: body, context: .withoutZones)
    let identity = try UserIdentity(reader)
    self.init(
      userRecordName: try reader.member("userRecordName").string(),
      nameComponents: identity.nameComponents, lookup: identity.lookup)
  }

  public var body: Data {
    let identity = UserIdentity(
      userRecordName: userRecordName, nameComponents: nameComponents, lookup: lookup)
    var writer = JSONWriter()
    writer.object { writer in
      identity.writeMembers(to: &writer)
      writer.key("users")
      writer.array { identity.write(to: &$0) }
    }
    return writer.data
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

  public var body: Data {
    var writer = JSONWriter()
    writer.object { writer in
      writer.member("userRecordName", userRecordName)
      writer.member("firstName", ifPresent: firstName)
      writer.member("lastName", ifPresent: lastName)
      writer.member("emailAddress", ifPresent: emailAddress)
    }
    return writer.data
  }
}

/// The body of `users/discover`, `users/lookup/email`, `users/lookup/id` and
/// `users/lookup/contacts`, which differ in the name of their list.
public struct LookupUsersRequest: Sendable, Hashable {
  /// In order.
  public var lookups: [UserLookup]

  public init(lookups: [UserLookup]) {
    self.lookups = lookups
  }

  /// Reads a request.
  ///
  /// - Parameters:
  ///   - key: the name of the list.
  ///   - members: of these each entry must have one.
  public init(
    parsing body: Data, listedAs key: String, by members: [String]
  ) throws(ServiceError) {
    let reader = try MessageReader(parsing: body, context: .withoutZones)
    lookups = []
    for element in try reader.limitedElements(of: key).elements() {
      let lookup = try UserLookup(element)
      let given = [
        "emailAddress": lookup.emailAddress, "phoneNumber": lookup.phoneNumber,
        "userRecordName": lookup.userRecordName,
      ]
      guard members.contains(where: { (given[$0] ?? nil) != nil }) else {
        throw element.mistake("needs \(members.joined(separator: " or "))")
      }
      lookups.append(lookup)
    }
  }

  /// Reads a request whose list may be absent: then it asks for everyone.
  ///
  /// - Returns: nil when no list is there.
  public init?(
    parsing body: Data, maybeListedAs key: String, by members: [String]
  ) throws(ServiceError) {
    let reader = try MessageReader(parsing: body, context: .withoutZones)
    guard try reader.optional(key) != nil else { return nil }
    try self.init(parsing: body, listedAs: key, by: members)
  }

  /// The body of `users/discover`.
  public var body: Data {
    var writer = JSONWriter(reserving: 64 * lookups.count)
    writer.object { writer in
      writer.key("lookupInfos")
      writer.array { writer in
        for lookup in lookups { lookup.write(to: &writer) }
      }
    }
    return writer.data
  }
}

/// The answer of `users/discover`: those who were found. Each bears the lookup that found it.
public struct UsersResponse: Sendable, Hashable {
  public var users: [UserIdentity]

  public init(users: [UserIdentity]) {
    self.users = users
  }

  public init(parsing body: Data) throws(ServiceError) {
    let reader = try MessageReader(parsing: body, context: .withoutZones)
    users = []
    for element in try reader.member("users").elements() {
      users.append(try UserIdentity(element))
    }
  }

  public var body: Data {
    var writer = JSONWriter(reserving: 128 * users.count)
    writer.object { writer in
      writer.key("users")
      writer.array { writer in
        for user in users { user.write(to: &writer) }
      }
    }
    return writer.data
  }
}

/// The answer of `users/lookup/…`: those who were found.
///
/// Apple's reference has them as it has the answer of `users/current`, with the e-mail address only
/// where it was looked up, and CloudKit JS before 2.0 reads no other form. The members of
/// `users/discover` stand beside them.
public struct LookedUpUsersResponse: Sendable, Hashable {
  public var users: [UserIdentity]

  public init(users: [UserIdentity]) {
    self.users = users
  }

  public var body: Data {
    var writer = JSONWriter(reserving: 192 * users.count)
    writer.object { writer in
      writer.key("users")
      writer.array { writer in
        for user in users {
          writer.object { writer in
            user.writeMembers(to: &writer)
            writer.member("firstName", ifPresent: user.nameComponents?.givenName)
            writer.member("lastName", ifPresent: user.nameComponents?.familyName)
            writer.member("emailAddress", ifPresent: user.lookup?.emailAddress)
          }
        }
      }
    }
    return writer.data
  }
}

/// The answer of `users/permissions`, and the body that sets some: Petrel's own call, for what a
/// system's dialog and settings are on Apple's platforms.
public struct PermissionsMessage: Sendable, Hashable {
  public var statuses: [ApplicationPermission: ApplicationPermission.Status]

  public init(statuses: [ApplicationPermission: ApplicationPermission.Status]) {
    self.statuses = statuses
  }

  public init(parsing body: Data) throws(ServiceError) {
    let reader = try MessageReader(parsing: body, context: .withoutZones)
    statuses = [:]
    for element in try reader.member("permissions").elements() {
      let permission: ApplicationPermission = try element.choice("permission")
      statuses[permission] = try element.choice("status")
    }
  }

  public var body: Data {
    var writer = JSONWriter()
    writer.object { writer in
      writer.key("permissions")
      writer.array { writer in
        for (permission, status) in statuses.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
          writer.object { writer in
            writer.member("permission", permission.rawValue)
            writer.member("status", status.rawValue)
          }
        }
      }
    }
    return writer.data
  }
}

extension MessageContext {
  /// For messages in which no zone is named.
  static let withoutZones = MessageContext(ownerNaming: .explicit)
}

extension MessageReader {
  /// The member of this name as one of a type's words.
  func choice<Choice: RawRepresentable<String> & CaseIterable>(
    _ key: String
  ) throws(ServiceError) -> Choice {
    let member = try member(key)
    let word = try member.string()
    guard let choice = Choice(rawValue: word) else {
      throw member.mistake(
        "'\(word)' must be one of " + Choice.allCases.map(\.rawValue).joined(separator: ", "))
    }
    return choice
  }
}

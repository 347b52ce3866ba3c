import CloudKitModel
import StoreModel

/// The accounts of users: passwords, identities at OpenID Connect issuers, web auth tokens, and the
/// permissions that users grant to apps.
///
/// An app can discover only a user who has granted this permission. The rows belong to no database,
/// so writes take the reference lock (``WriteLocks``).
public struct AccountService: Sendable {
  let transactions: Transactions

  /// Creates an account. Throws ``StoreError/Code/exists`` if another user has the name, the e-mail
  /// address or the phone number.
  public func addUser(
    named name: String, profile: UserProfile = UserProfile(), at timestamp: Timestamp
  ) async throws -> User {
    try await transactions.write(locking: .reference) {
      try UserTable(transaction: $0).add(named: name, profile: profile, at: timestamp)
    }
  }

  /// Returns the account with this name. Names are compared by their bytes.
  public func user(named name: String) async throws -> User? {
    try await transactions.read { try UserTable(transaction: $0).user(named: name) }
  }

  /// Returns the account with this user record name.
  public func user(withRecordName userRecordName: String) async throws -> User? {
    try await transactions.read {
      try UserTable(transaction: $0).user(withRecordName: userRecordName)
    }
  }

  /// Returns all accounts in the order of their names, without a limit.
  public func users() async throws -> [User] {
    try await transactions.read { try UserTable(transaction: $0).users() }
  }

  /// Returns account names by user record name. A user without an account has no element.
  public func userNames(of userRecordNames: Set<String>) async throws -> [String: String] {
    try await transactions.read { transaction in
      let users = UserTable(transaction: transaction)
      var names: [String: String] = [:]
      for userRecordName in userRecordNames {
        names[userRecordName] = try users.name(of: userRecordName)
      }
      return names
    }
  }
}

extension AccountService {
  /// Replaces the hash of a user's password, and ends the user's sessions in web apps.
  ///
  /// - Throws: ``StoreError/Code/notFound`` if there is no user of this name;
  ///   ``StoreError/Code/userDeleted`` if the user is being deleted.
  public func setPasswordHash(
    _ hash: String, ofUserNamed name: String, at timestamp: Timestamp
  ) async throws {
    try await transactions.writeDevices { transaction, orders in
      let users = UserTable(transaction: transaction)
      if let user = try users.user(named: name) {
        try UserDeletionTable(transaction: transaction).refuseDeleted(user.userRecordName)
      }
      let isSet = try PasswordTable(transaction: transaction)
        .setHash(hash, ofUserNamed: name, at: timestamp)
      guard isSet, let user = try users.user(named: name) else {
        throw StoreError.noUser(named: name)
      }
      _ = try WebAuthTokenTable(transaction: transaction)
        .endSessions(
          of: user.userRecordName, everywhere: false, at: timestamp, ordering: &orders)
    }
  }

  /// Returns the hash of a user's password; nil also if there is no such user.
  public func passwordHash(ofUserNamed name: String) async throws -> String? {
    try await transactions.read { try PasswordTable(transaction: $0).hash(ofUserNamed: name) }
  }

  /// Returns the user with this identity at an issuer. The first call with an identity creates the
  /// user.
  ///
  /// If another user has the profile's e-mail address or phone number, the new account has none:
  /// two people with one address never get the same account. If another user has the proposed name,
  /// the new account's name is its user record name.
  ///
  /// - Throws: ``StoreError/Code/userDeleted`` if the identity belongs to a user who is being
  ///   deleted or was deleted recently.
  public func user(
    boundTo identity: IssuedIdentity, proposing name: String, profile: UserProfile,
    at timestamp: Timestamp
  ) async throws -> User {
    if let known = try await transactions.read({
      try UserTable(transaction: $0).user(boundTo: identity)
    }),
      !known.isBeingDeleted
    {
      return known
    }
    return try await transactions.write(locking: .reference) { transaction in
      let users = UserTable(transaction: transaction)
      // A concurrent sign-in of the same person may have created the user.
      if let known = try users.user(boundTo: identity) {
        try UserDeletionTable(transaction: transaction).refuseDeleted(known.userRecordName)
        return known
      }
      let user = try users.add(proposing: name, profile: profile, at: timestamp)
      try UserIdentityTable(transaction: transaction).bind(identity, to: user, at: timestamp)
      return user
    }
  }
}

extension AccountService {
  /// Stores a token, which is valid from its commit on.
  ///
  /// - Throws: ``StoreError/Code/userDeleted`` if the token's user is being deleted or was deleted
  ///   recently.
  public func addWebAuthToken(_ token: WebAuthToken) async throws {
    try await transactions.write(locking: .reference) {
      try WebAuthTokenTable(transaction: $0).add(token)
    }
  }

  /// Returns the token with this SHA-256 hash. The token may have expired: the caller compares
  /// ``WebAuthToken/expires`` with the present time.
  public func webAuthToken(withHash hash: [UInt8]) async throws -> WebAuthToken? {
    try await transactions.readOne {
      try WebAuthTokenTable(transaction: $0).token(withHash: hash)
    }
  }

  /// Records a request with a session's token: adds the session's next token, and makes older
  /// tokens expire earlier.
  ///
  /// - Parameter olderExpire: a time for the first request with the token; nil for later requests.
  ///   With a time, the write marks the token as used, and the session's older tokens expire at
  ///   this time at the latest.
  /// - Returns: false if no session has a token with this hash. Nothing is written then.
  /// - Throws: ``StoreError/Code/userDeleted`` if there is a successor, and its user is being
  ///   deleted or was deleted recently.
  public func rotateWebAuthToken(
    withHash hash: [UInt8], successor: WebAuthToken?, olderExpire: Timestamp?
  ) async throws -> Bool {
    try await transactions.write(locking: .reference) {
      try WebAuthTokenTable(transaction: $0)
        .rotate(tokenWithHash: hash, successor: successor, olderExpire: olderExpire)
    }
  }

  /// Ends one sign-in of a web app: deletes the web auth tokens with its ID, and the registrations
  /// of devices that were made in the session.
  public func endSession(withID id: [UInt8], at timestamp: Timestamp) async throws {
    try await transactions.writeDevices {
      try WebAuthTokenTable(transaction: $0).endSession(
        withID: id, at: timestamp, ordering: &$1)
    }
  }

  /// Ends a user's sessions in web apps: deletes their web auth tokens, and the registrations of
  /// devices that were made in these sessions.
  ///
  /// - Parameter everywhere: whether to delete the tokens of native clients too, and all
  ///   registrations of the user's devices, browsers and web courier readers. Webhooks stay.
  /// - Returns: the number of ended sessions that had not expired at `timestamp`. Each token of a
  ///   native client counts as a session. Devices do not count.
  public func endSessions(
    of userRecordName: String, everywhere: Bool, at timestamp: Timestamp
  ) async throws -> Int {
    try await transactions.writeDevices {
      try WebAuthTokenTable(transaction: $0)
        .endSessions(of: userRecordName, everywhere: everywhere, at: timestamp, ordering: &$1)
    }
  }
}

extension AccountService {
  /// Returns the user's decisions for the app of a container. A permission without a decision has
  /// no element.
  public func applicationPermissions(
    of userRecordName: String, container: String, environment: ContainerEnvironment
  ) async throws -> [ApplicationPermission: ApplicationPermission.Status] {
    try await transactions.read {
      try ApplicationPermissionTable(transaction: $0)
        .statuses(of: userRecordName, container: container, environment: environment)
    }
  }

  /// Stores decisions of the user. They replace earlier decisions about the same permissions.
  ///
  /// - Throws: ``StoreError/Code/userDeleted`` if the user is being deleted or was deleted
  ///   recently; ``ItemFailure/Code/quotaExceeded`` if the container is new and one too many.
  public func setApplicationPermissions(
    _ statuses: [ApplicationPermission: ApplicationPermission.Status],
    by maker: ContainerMaker, container: String, environment: ContainerEnvironment
  ) async throws {
    let userRecordName = maker.userRecordName
    try await transactions.write(locking: .reference) { transaction in
      try UserDeletionTable(transaction: transaction).refuseDeleted(userRecordName)
      try ContainerTable(transaction: transaction).enter(container, for: maker)
      let permissions = ApplicationPermissionTable(transaction: transaction)
      for (permission, status) in statuses {
        try permissions.set(
          permission, to: status, of: userRecordName, container: container,
          environment: environment)
      }
    }
  }

  /// Returns one element for each lookup, in their order. An element is nil if the user does not
  /// exist or has not granted discovery: an app cannot distinguish these two cases.
  public func discoverableUsers(
    matching lookups: [UserLookup], container: String, environment: ContainerEnvironment
  ) async throws -> [User?] {
    try await transactions.read { transaction in
      let users = UserTable(transaction: transaction)
      return try lookups.map {
        try users.discoverableUser(matching: $0, container: container, environment: environment)
      }
    }
  }

  /// Returns the first `limit` users who have granted discovery, in the order of their record
  /// names. No call returns later ones.
  public func discoverableUsers(
    container: String, environment: ContainerEnvironment, limit: Int
  ) async throws -> [User] {
    try await transactions.read {
      try UserTable(transaction: $0)
        .discoverableUsers(container: container, environment: environment, limit: limit)
    }
  }
}

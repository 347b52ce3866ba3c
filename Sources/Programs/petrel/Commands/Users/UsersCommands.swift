import AdminAPI
import CommandInterface
import JSONCoding

extension AdminCommand {
  static let usersAdd = AdminCommand(
    "users add", "Adds a user and prints a web auth token for it.",
    example: "petrel users add anna --email anna@example.com", .post("users/add"),
    operands: ["name"], makesStore: true, prints: .member("token"))

  static let usersAddToken = AdminCommand(
    "users add-token", "Prints another web auth token for a user's native clients.",
    example: "petrel users add-token anna --expires-in 30d", .post("users/add-token"),
    operands: ["user"], prints: .member("token"))

  static let usersList = AdminCommand(
    "users list", "Lists the users with their record names.", example: "petrel users list",
    .get("users"),
    prints: .pages(
      Listing(
        name: "users",
        columns: [
          .init("NAME", "name"), .init("USER RECORD", "userRecordName"),
          .init("ADDED", time: "created"), .init("FULL NAME", "fullName"),
        ], emptiness: "there are no users")))

  /// Shows up to 200 devices.
  static let usersShow = AdminCommand(
    "users show", "Shows a user's account and devices.", example: "petrel users show anna",
    .get("users/show"), operands: ["user"],
    call: { access, members in
      var user = try await access.answer(.get("users/show"), members).object ?? [:]
      user["devices"] = try await access.answer(
        .get("devices"), ["user": user["userRecordName"] ?? .null, "limit": 200])["devices"]
      return .object(user)
    },
    prints: .lines { user, _ in
      let rows = user["devices"]?.array ?? []
      return [user.text("name")]
        + AdminOutput.properties([
          ("user record", user["userRecordName"]?.string), ("full name", user["fullName"]?.string),
          ("e-mail", user["emailAddress"]?.string), ("telephone", user["phoneNumber"]?.string),
          ("added", user.time("created")),
        ]) + (user["isBeingDeleted"]?.bool == true ? ["  is being deleted"] : [])
        + [rows.isEmpty ? "no devices" : "devices:"] + Table.lines(deviceColumns, rows)
    })

  static let usersPassword = AdminCommand(
    "users password",
    "Gives a user a password, read from standard input, and ends the user's sessions in web apps.",
    example: "petrel users password anna", .post("users/password"), operands: ["user"])

  static let usersSignOut = AdminCommand(
    "users sign-out",
    "Ends a user's sessions in web apps, or the sessions of all the user's tokens.",
    example: "petrel users sign-out anna --everywhere", .post("users/sign-out"),
    operands: ["user"],
    prints: .lines { answer, _ in
      [(answer["sessions"]?.int ?? 0).counting("session") + " ended"]
    })
}

extension AdminCommand {
  private static let deviceColumns: [Table.Column] = [
    .init("KIND", "kind"), .init("TOKEN", "token", width: 64), .init("CONTAINER", "container"),
    .init("ENVIRONMENT", "environment"), .init("APP", "bundleID"),
    .init("USER", anyOf: ["userName", "user"]), .init("REGISTERED", time: "registered"),
    .init("REFUSED", time: "refused"),
  ]

  static let devicesList = AdminCommand(
    "devices list",
    "Lists devices: APNs tokens, browsers, webhooks and readers of the web courier.",
    example: "petrel devices list --user anna", .get("devices"),
    prints: .pages(
      Listing(name: "devices", columns: deviceColumns, emptiness: "there are no devices")))

  static let devicesRemove = AdminCommand(
    "devices remove", "Removes a device and gives up its waiting pushes.",
    example: "petrel devices remove 9a3c0d", .post("devices/delete"), operands: ["token"],
    prints: .lines { answer, _ in
      ["removed the \(answer.text("kind")) device \(answer.text("deleted"))"]
    })
}

extension AdminCommand {
  static let rolesGrant = AdminCommand(
    "roles grant", "Gives a user or a server-to-server key a role of a container's schema.",
    example: "petrel roles grant editor anna --container iCloud.com.example.app",
    .post("roles/grant"), operands: ["role", "user"])

  static let rolesRevoke = AdminCommand(
    "roles revoke", "Takes a role away again.",
    example: "petrel roles revoke editor anna --container iCloud.com.example.app",
    .post("roles/revoke"), operands: ["role", "user"])

  static let rolesList = AdminCommand(
    "roles list", "Lists a container's own roles with those who have them.",
    example: "petrel roles list --container iCloud.com.example.app", .get("roles"),
    prints: .lines { answer, _ in
      let roles = answer["roles"]?.array ?? []
      guard !roles.isEmpty else { return ["the schema has no roles of its own"] }
      return roles.map { role in
        let members = (role["members"]?.array ?? []).compactMap(\.string)
        return "\(role.text("role")): "
          + (members.isEmpty ? "nobody" : members.joined(separator: ", "))
      }
    })
}

import CommandInterface

extension AdminFailure {
  /// The options that do not have the name of the argument that they set.
  private static let options = [
    "emailAddress": "email", "lifetime": "expires-in", "password": "password-from-stdin",
    "phoneNumber": "phone", "recordType": "type", "sortBy": "sort", "zoneID": "zone",
    "zoneName": "zone", "zoneOwner": "owner",
  ]

  /// Returns the failure with the option that the user typed in place of the argument of the admin
  /// API, which the server names: `--user` for `body: 'user'`.
  ///
  /// An argument without an option keeps its name, without the part of the request.
  func inWords(of arguments: Arguments) -> AdminFailure {
    guard let match = reason.wholeMatch(of: /(?s)(?:body|query): '(\w+)'(.*)/) else { return self }
    let name = String(match.1)
    let option = Self.options[name] ?? Self.hyphenated(name)
    var failure = self
    failure.reason = (arguments.accepts(option) ? "--\(option)" : "'\(name)'") + match.2
    return failure
  }

  /// Returns a name such as `givenName` as options have it: `given-name`.
  private static func hyphenated(_ name: String) -> String {
    name.reduce(into: "") { text, letter in
      text += letter.isUppercase ? "-" + letter.lowercased() : String(letter)
    }
  }
}

internal import CloudKitModel
internal import JSONCoding

extension PetrelConfiguration {
  /// The path and the bytes of a configuration file.
  struct File {
    var path: String
    var content: Data
  }

  /// The settings. The raw value is the key in the configuration file.
  private enum Setting: String, CaseIterable {
    case server, container, token, apiToken, device, environment, state

    var variable: String {
      switch self {
      case .server: "PETREL_SERVER"
      case .container: "PETREL_CONTAINER"
      case .token: "PETREL_TOKEN"
      case .apiToken: "PETREL_API_TOKEN"
      case .device: "PETREL_DEVICE"
      case .environment: "PETREL_ENVIRONMENT"
      case .state: "PETREL_STATE"
      }
    }
  }

  /// A value and the place where it is set, for error messages.
  private struct Origin {
    var value: String
    var place: String
  }

  /// Creates the configuration from the environment and a file.
  ///
  /// A variable takes precedence over the same key in the file.
  ///
  /// - Parameters:
  ///   - variables: the environment; empty variables count as unset.
  ///   - deviceID: returns the ID of this device; called only when no setting names one.
  /// - Throws: `badContainer`. The description names the variable, or the file and the key, and the
  ///   broken rule.
  init(
    variables: [String: String], file: File?, deviceID makeDeviceID: () -> String
  ) throws(CKError) {
    var settings = try file.map { (file) throws(CKError) in try Self.settings(in: file) } ?? [:]
    for setting in Setting.allCases {
      guard let value = variables[setting.variable], !value.isEmpty else { continue }
      settings[setting] = Origin(value: value, place: setting.variable)
    }
    guard let server = settings[.server] else {
      throw CKError(
        .badContainer,
        "no server is configured: set PETREL_SERVER, or write 'server' in a petrel.json in the "
          + "working directory or above it")
    }
    var environment = Environment.development
    if let setting = settings[.environment] {
      guard let known = Environment(rawValue: setting.value) else {
        throw CKError(
          .badContainer,
          "\(setting.place): environment '\(setting.value)' must be development or production")
      }
      environment = known
    }
    self.init(
      serverURL: try Self.serverURL(server.value, place: server.place),
      containerIdentifier: settings[.container]?.value, webAuthToken: settings[.token]?.value,
      apiToken: settings[.apiToken]?.value,
      deviceID: settings[.device]?.value ?? makeDeviceID(), environment: environment,
      stateDirectory: settings[.state].map { URL(fileURLWithPath: $0.value, isDirectory: true) })
    if let container = settings[.container] {
      try Self.check(containerIdentifier: container.value, place: container.place)
    }
  }

  /// Throws `badContainer` for invalid JSON, an unknown key, and a value that is not a non-empty
  /// string.
  private static func settings(in file: File) throws(CKError) -> [Setting: Origin] {
    let json: JSONValue
    do {
      json = try JSONValue(parsing: file.content)
    } catch {
      throw CKError(.badContainer, "\(file.path): \(error.description)")
    }
    guard case .object(let members) = json else {
      throw CKError(.badContainer, "\(file.path): must hold a JSON object, not \(json.kind)")
    }
    var settings: [Setting: Origin] = [:]
    for (key, value) in members.sorted(by: { $0.key < $1.key }) {
      guard let setting = Setting(rawValue: key) else {
        let known = Setting.allCases.map(\.rawValue).joined(separator: ", ")
        throw CKError(.badContainer, "\(file.path): unknown key '\(key)'; the keys are \(known)")
      }
      guard let text = value.string, !text.isEmpty else {
        throw CKError(
          .badContainer, "\(file.path): '\(key)' must be a string that is not empty")
      }
      settings[setting] = Origin(value: text, place: "\(file.path), '\(key)'")
    }
    return settings
  }

  /// Throws `badContainer` when the text is no URL or breaks a rule of ``check(serverURL:place:)``.
  private static func serverURL(_ text: String, place: String) throws(CKError) -> URL {
    guard let url = URL(string: text) else {
      throw CKError(.badContainer, "\(place): '\(text)' is not a URL")
    }
    try check(serverURL: url, place: place)
    return url
  }

  // MARK: Rules

  /// Checks that the scheme is `http` or `https`, that there is a host, and that there is no query
  /// or fragment.
  ///
  /// - Throws: `badContainer`.
  static func check(serverURL url: URL, place: String) throws(CKError) {
    guard url.scheme == "http" || url.scheme == "https", let host = url.host, !host.isEmpty else {
      throw CKError(
        .badContainer,
        "\(place): server '\(url.absoluteString)' must begin with http:// or https:// and a host")
    }
    guard url.query == nil, url.fragment == nil else {
      throw CKError(
        .badContainer,
        "\(place): server '\(url.absoluteString)' must not have a query or a fragment")
    }
  }

  /// Checks that an identifier begins with `iCloud.`, has at least one character after that, and
  /// has no `/`.
  ///
  /// - Throws: `badContainer`.
  static func check(containerIdentifier identifier: String, place: String) throws(CKError) {
    guard identifier.hasPrefix("iCloud."), identifier.utf8.count > "iCloud.".utf8.count,
      !identifier.contains("/")
    else {
      throw CKError(
        .badContainer,
        "\(place): container '\(identifier)' must begin with 'iCloud.' and hold no '/'")
    }
  }
}

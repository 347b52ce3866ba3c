import PushChannels
import Settings

extension ServerConfiguration {
  /// The settings of one container.
  public struct Container: Sendable, Hashable {
    /// The settings of the container's push channels, such as the APNs key and topic.
    public var channels: ChannelSettings
    /// Whether the device that made a change gets no push for that change; true by default, as in
    /// iCloud.
    public var excludesOriginDevice: Bool
    /// Whether the server refuses a subscription if the same user has another one with equal
    /// content.
    public var refusesEqualSubscriptions: Bool
    /// Whether notifications of deletions contain the record type and the last values of the
    /// record.
    public var deletionsCarryLastValues: Bool
    /// The settings of the container's shares.
    public var shares = Shares()

    /// Creates settings. The defaults of the arguments are the defaults of the configuration.
    public init(
      channels: ChannelSettings = ChannelSettings(), excludesOriginDevice: Bool = true,
      refusesEqualSubscriptions: Bool = false, deletionsCarryLastValues: Bool = false
    ) {
      self.channels = channels
      self.excludesOriginDevice = excludesOriginDevice
      self.refusesEqualSubscriptions = refusesEqualSubscriptions
      self.deletionsCarryLastValues = deletionsCarryLastValues
    }

    /// The table of the settings, with those of all push channels.
    static let settings = SettingTable(
      Container(),
      [
        .init(
          "excludesOriginDevice", \.excludesOriginDevice, .boolean,
          "Whether the device that made a change gets no push for it."),
        .init(
          "refusesEqualSubscriptions", \.refusesEqualSubscriptions, .boolean,
          "Whether the server refuses a subscription that is equal to another one of the user."),
        .init(
          "deletionsCarryLastValues", \.deletionsCarryLastValues, .boolean,
          "Whether notifications of deletions carry the record's last values and type."),
        .object(
          "shares", \.shares, Shares.settings,
          "The page of [share links](sharing.md#the-page-of-a-link)."),
      ] + PushChannelRegistry.containerSettings.map { $0.within(\.channels) })
  }

  /// The settings of one container's shares.
  public struct Shares: Sendable, Hashable {
    /// The URL that opens the app after a share was accepted on its page; nil if the page opens no
    /// app.
    public var appLink: AppLink?

    /// Creates the default settings.
    public init(appLink: AppLink? = nil) {
      self.appLink = appLink
    }

    static let settings = SettingTable(
      Shares(),
      [
        .part(
          "appURL", .text, default: "the page opens no app",
          shown: { $0.appLink.map { .string($0.template) } },
          "The URL that opens the app after *Accept*, with `{guid}` or `{url}` for the link.")
      ],
      rules: { reader, settings throws(ConfigurationError) in
        guard let text = reader.text("appURL") else { return }
        guard let link = AppLink(text) else {
          throw reader.mistake("appURL", "'appURL' \(AppLink.rule)")
        }
        settings.appLink = link
      })
  }
}

extension ServerConfiguration {
  /// The mistake of a server that other machines can reach and that serves every container: whoever
  /// reaches it can create containers. Nil if the configuration lists containers, if it permits any
  /// container, and if only this machine can reach the server.
  public var openContainersMistake: ConfigurationError? {
    guard containers.isEmpty, !(servesAnyContainer ?? isOnlyForThisMachine) else { return nil }
    return ConfigurationError(
      "'containers' is missing: other machines can reach this server, so server.json must list the "
        + "containers that it serves, such as \"containers\": {\"iCloud.com.example.app\": {}}; a "
        + "server for tests, which may serve every container, needs \"anyContainer\": true "
        + "(PETREL_ANY_CONTAINER=true)")
  }
}

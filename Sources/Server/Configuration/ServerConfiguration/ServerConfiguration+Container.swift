import PushChannels
import Settings

extension ServerConfiguration {
  /// What is special about one container.
  public struct Container: Sendable, Hashable {
    /// How its notifications go to devices.
    public var channels: ChannelSettings
    public var excludesOriginDevice: Bool
    public var refusesEqualSubscriptions: Bool
    public var deletionsCarryLastValues: Bool

    public init(
      channels: ChannelSettings = ChannelSettings(), excludesOriginDevice: Bool = true,
      refusesEqualSubscriptions: Bool = false, deletionsCarryLastValues: Bool = false
    ) {
      self.channels = channels
      self.excludesOriginDevice = excludesOriginDevice
      self.refusesEqualSubscriptions = refusesEqualSubscriptions
      self.deletionsCarryLastValues = deletionsCarryLastValues
    }

    static let settings = SettingTable(
      Container(),
      [
        .init(
          "excludesOriginDevice", \.excludesOriginDevice, .boolean,
          "Whether the device that made a change gets no push for it."),
        .init(
          "refusesEqualSubscriptions", \.refusesEqualSubscriptions, .boolean,
          "Whether a user's subscription that watches for the same as another one is refused."),
        .init(
          "deletionsCarryLastValues", \.deletionsCarryLastValues, .boolean,
          "Whether notifications of deletions carry the record's last values and type."),
      ] + PushChannelRegistry.containerSettings.map { $0.within(\.channels) })
  }
}

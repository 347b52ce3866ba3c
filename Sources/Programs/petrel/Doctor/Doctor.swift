import PetrelServer
import PushChannels

/// The checks of `petrel doctor`. They change nothing.
struct Doctor: Sendable {
  let configuration: ConfigurationCheck
  /// Whether the checks contact no other machine, except the PostgreSQL server of the store.
  let isOffline: Bool
  /// Whether the check of the store also compares the indexes with the tables and reads all asset
  /// files. It then has a time limit of a year. The option has no effect on a store in PostgreSQL.
  let isDeep: Bool

  /// Runs all checks at the same time, except the check of the clock. That check runs at the end,
  /// because it uses the times in the answers of other machines.
  func examine() async -> DoctorReport {
    let samples = ClockSamples()
    let checks = checks(samples)
    var sections = await withTaskGroup(of: (Int, DoctorReport.Section).self) { group in
      for (number, check) in checks.enumerated() {
        group.addTask {
          (
            number,
            DoctorReport.Section(
              check: check.name, findings: await check.findings())
          )
        }
      }
      var sections: [(Int, DoctorReport.Section)] = []
      for await section in group { sections.append(section) }
      return sections.sorted { $0.0 < $1.0 }.map(\.1)
    }
    let settings = configuration.configuration
    let clock = Check(asking: "clock") {
      ClockCheck(configuration: settings, samples: samples.all).findings()
    }
    sections.append(.init(check: clock.name, findings: await clock.findings()))
    return DoctorReport(sections: sections.filter { !$0.findings.isEmpty })
  }

  /// Returns all checks except the check of the clock, in the order of the report.
  private func checks(_ samples: ClockSamples) -> [Check] {
    let (configured, settings, isOffline, isDeep) = (
      configuration, configuration.configuration, isOffline, isDeep
    )
    let patience =
      isDeep ? Duration.seconds(366 * 86_400) : DatabaseCheck.patience + .seconds(10)
    var checks = [
      Check(asking: "configuration") { configured.findings() },
      Check(asking: "keys") {
        KeyCheck(configuration: settings, sources: configured.sources).findings()
      },
      Check(asking: "push channels") {
        let findings = PushChannelRegistry.all.flatMap {
          $0.findings(in: settings.channelSettings, at: .now)
        }
        return findings.isEmpty ? [.ok("none is set up, so no pushes leave")] : findings
      },
      Check(asking: "data directory") { DirectoryCheck(settings).findings() },
      Check(asking: "disk") {
        DiskCheck(directory: settings.dataDirectory).findings()
      },
      Check("store", within: patience) {
        if let address = settings.postgreSQL {
          await PostgreSQLCheck(address: address).findings()
        } else {
          await DatabaseCheck(path: settings.storePath, isDeep: isDeep).findings()
        }
      },
      Check("assets") {
        guard let address = settings.postgreSQL else { return [] }
        return await AssetFolderCheck(address: address, directory: settings.assetsPath).findings()
      },
      Check("devices") { await DevicesCheck(configuration: settings).findings() },
      Check(asking: "open files") { LimitsCheck().findings() },
      Check("server") {
        await ServerCheck(configuration: settings, isOffline: isOffline).findings()
      },
      Check("background work") {
        await BackgroundCheck(socket: settings.socketFile).findings()
      },
    ]
    guard !isOffline else { return checks }
    checks += PushChannelRegistry.all.map { channel in
      Check(channel.name) {
        await channel.findings(askingWith: settings.channelSettings) {
          samples.note($0, from: $1)
        }
      }
    }
    checks.append(
      Check("sign-in") {
        await IssuersCheck(configuration: settings, samples: samples).findings()
      })
    return checks
  }
}

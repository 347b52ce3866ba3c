import CloudKitModel
import DatabaseAPI
import HTTPService
import JSONCoding
import StoreModel
import WebServices

/// Containers, databases and zones.
struct AdminPlacesEndpoints: AdminEndpoints {
  let administration: any AdministrationStore
  let zones: any ZoneStore
  let databases: AdminDatabases
  /// The containers that the configuration names, as it is now.
  let configured: @Sendable () -> [String]

  var endpoints: [AdminEndpoint] {
    [
      .get("containers", [], containers)
        .described(
          "What has databases or record types, and what the configuration names",
          answers: .object(["containers": .list(.container)])),
      .get(
        "databases", [.needed("container"), "environment", "limit", "continuation"], listDatabases
      )
      .described(
        "Databases with their owners, private ones with their bytes",
        answers: .page("databases", of: .databaseSummary)),
      .get("zones", AdminDatabases.arguments, zones)
        .described("The zones of a database", answers: .object(["zones": .list(.zone)])),
      .post("zones/modify", AdminDatabases.arguments + [.needed("operations")], modifyZones)
        .described("Makes and deletes zones", answers: ZonesResponse.schema(in: .answers)),
    ]
  }

  private func containers(_ request: AdminRequest) async throws -> HTTPResponse {
    let known = try await administration.places()
    let names = Set(known.map(\.container)).union(configured()).sorted()
    return request.object { writer in
      writer.key("containers")
      writer.array { writer in
        for name in names {
          writer.object { writer in
            writer.member("container", name)
            writer.key("environments")
            writer.array { writer in
              for place in known where place.container == name {
                writer.value(place.environment.rawValue)
              }
            }
          }
        }
      }
    }
  }

  private func listDatabases(_ request: AdminRequest) async throws -> HTTPResponse {
    let arguments = request.arguments
    let (container, environment) = try arguments.place()
    let limit = try arguments.limit()
    let last = try AdminContinuation.parts(arguments, count: 2).flatMap { parts in
      Int(parts[0]).flatMap { DatabaseScope(rawValue: $0) }.map {
        DatabaseSummary.Name(scope: $0, owner: parts[1])
      }
    }
    let page = try await administration.databases(
      in: ContainerPlace(container: container, environment: environment), after: last,
      limit: limit)
    var usages: [DatabaseID: DatabaseUsage] = [:]
    for database in page where database.name.scope != .shared {
      usages[database.id] = try await databases.store.usage(of: database.id)
    }
    return request.object { writer in
      writer.key("databases")
      writer.array { writer in
        for database in page {
          writer.object { writer in
            writer.member("database", database.name.scope.pathComponent)
            if database.name.scope != .public {
              writer.member("user", database.name.owner)
              writer.member("userName", ifPresent: database.userName)
            }
            if let usage = usages[database.id] {
              writer.member("bytes", usage.bytes)
            }
          }
        }
      }
      if page.count == limit, let last = page.last {
        writer.member(
          "continuation",
          AdminContinuation.text([String(last.name.scope.rawValue), last.name.owner]))
      }
    }
  }

  private func zones(_ request: AdminRequest) async throws -> HTTPResponse {
    let address = try await databases.address(request.arguments)
    guard let database = try await databases.store.existingDatabase(at: address) else {
      return request.object { writer in
        writer.key("zones")
        writer.array { _ in }
      }
    }
    let zones = try await zones.zones(in: database)
    return request.object { writer in
      writer.key("zones")
      writer.array { writer in
        for zone in zones {
          writer.object { writer in
            writer.member("zoneName", zone.zoneID.zoneName)
            if zone.zoneID.ownerName != ZoneID.currentOwnerName {
              writer.member("ownerRecordName", zone.zoneID.ownerName)
            }
            writer.member("isDefault", zone.zoneID.isDefaultZone)
            writer.member("syncToken", ifPresent: zone.changeToken)
          }
        }
      }
    }
  }

  private func modifyZones(_ request: AdminRequest) async throws -> HTTPResponse {
    try await databases.answer(request, operation: "zones/modify", with: ["operations"])
  }
}

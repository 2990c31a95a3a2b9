//! Rights that a login lacks, as `connectionStatus` tells them. Never asked of a real `mongod`. Source: MongoDB manual, "connectionStatus",
//! "Privilege Actions", "Resource Document", "Built-In Roles", "listCollections".

use super::admin::{Admin, SERVER};
use super::bson::{Document, Element};
use super::engine::Mongodb;
use super::failure::is_refusal;
use super::options::{ClientPath, Options};
use super::url::Url;
use crate::contract::{Error, ErrorClass, MissingRight, RightPurpose, RightsFailure, ServerRights, Target, asked};
use crate::engines::blocking::{PATIENCE, runtime};

/// An action that something here needs.
#[derive(Debug)]
struct NeededAction {
    /// Name of the action.
    action: &'static str,
    /// Whether the server itself is acted on, and not the study's database.
    is_of_server: bool,
    /// Built-in role of least rights that gives it.
    role: &'static str,
    /// What needs it.
    purposes: &'static [RightPurpose],
}

impl NeededAction {
    const fn in_database(action: &'static str, role: &'static str, purposes: &'static [RightPurpose]) -> Self {
        Self { action, is_of_server: false, role, purposes }
    }

    const fn at_server(action: &'static str, role: &'static str, purposes: &'static [RightPurpose]) -> Self {
        Self { action, is_of_server: true, role, purposes }
    }
}

/// Actions in the order in which they are needed. A collection is made by its first document, which `insert` allows.
const NEEDED: &[NeededAction] = &[
    NeededAction::in_database("listCollections", "readWrite", &[RightPurpose::Build]),
    NeededAction::in_database("find", "readWrite", &[RightPurpose::Build]),
    NeededAction::in_database("insert", "readWrite", &[RightPurpose::Build]),
    NeededAction::in_database("update", "readWrite", &[RightPurpose::Build]),
    NeededAction::at_server("serverStatus", "clusterMonitor", &[RightPurpose::Counters]),
    NeededAction::at_server("replSetGetStatus", "clusterMonitor", &[RightPurpose::Standbys]),
    NeededAction::at_server("fsync", "hostManager", &[RightPurpose::Settle]),
];

impl ServerRights for Mongodb {
    fn lacking(&self, target: &Target) -> Result<Vec<MissingRight>, RightsFailure> {
        let path = Options::read(&target.place.settings).map_err(RightsFailure::Connect)?.path;
        let database = Url::of(target).map_err(RightsFailure::Connect)?.database;
        let question = async |mut admin: Admin| look(&mut admin, &database).await;
        let asking = asked(PATIENCE, open(path, target, &database), question);
        runtime().map_err(RightsFailure::Connect)?.block_on(asking)
    }
}

/// Connects as somebody whom the server has let in. Anybody may greet, so that the collections are listed, too: in this form whoever is logged
/// in may do that, and everybody where nobody has to log in. A server that only resembles MongoDB may not know this form, and refuses nobody
/// by that.
async fn open(path: ClientPath, target: &Target, database: &str) -> Result<Admin, RightsFailure> {
    let mut admin = Admin::by(path, target, PATIENCE).await.map_err(of_opening)?;
    let listed = admin.run(database, |command| {
        command.int32("listCollections", 1);
        command.boolean("nameOnly", true);
        command.boolean("authorizedCollections", true);
        command.nested("cursor", |_| {});
    });
    match listed.await {
        Err(error) if is_refusal(&error) || !matches!(error.class(), ErrorClass::Other | ErrorClass::Data) => {
            Err(of_opening(error))
        }
        _ => Ok(admin),
    }
}

/// Only the server's own word on somebody is a refused login.
fn of_opening(error: Error) -> RightsFailure {
    if is_refusal(&error) { RightsFailure::Login(error) } else { RightsFailure::Connect(error) }
}

/// Asks what the login may do.
async fn look(admin: &mut Admin, database: &str) -> Result<Vec<MissingRight>, Error> {
    let status = admin.run(SERVER, |command| {
        command.int32("connectionStatus", 1);
        command.boolean("showPrivileges", true);
    });
    let reply = status.await?;
    let login = LoginPrivileges::of(reply.document()?, database)?;
    Ok(login.map(|login| login.lacking(database)).unwrap_or_default())
}

/// A login, and the actions that it may take.
#[derive(Debug)]
struct LoginPrivileges {
    user: String,
    /// The database that keeps the user.
    kept_in: String,
    in_database: Vec<String>,
    at_server: Vec<String>,
}

impl LoginPrivileges {
    /// Reads what a server says; `None` where nobody is logged in.
    fn of(status: Document<'_>, database: &str) -> Result<Option<Self>, Error> {
        let list = |name: &str| status.at(&format!("authInfo.{name}")).and_then(Element::document);
        let users = list("authenticatedUsers")
            .ok_or_else(|| Error::other("the server does not say who is logged in (connectionStatus)"))?;
        let Some(user) = documents(users).next() else { return Ok(None) };
        let privileges = list("authenticatedUserPrivileges")
            .ok_or_else(|| Error::other("the server does not say what the login may do (connectionStatus)"))?;
        let named = |name: &str| user.get(name).and_then(Element::text).unwrap_or_default().to_owned();
        let (user, kept_in) = (named("user"), named("db"));
        let mut login = Self { user, kept_in, in_database: Vec::new(), at_server: Vec::new() };
        for privilege in documents(privileges) {
            let Some(resource) = privilege.get("resource").and_then(Element::document) else { continue };
            let actions: Vec<String> = texts(privilege.get("actions"));
            let is_any = is_true(resource, "anyResource");
            if is_any || is_whole(resource, database) {
                login.in_database.extend(actions.iter().cloned());
            }
            if is_any || is_true(resource, "cluster") {
                login.at_server.extend(actions);
            }
        }
        Ok(Some(login))
    }

    fn lacking(&self, database: &str) -> Vec<MissingRight> {
        let has = |needed: &&NeededAction| {
            let actions = if needed.is_of_server { &self.at_server } else { &self.in_database };
            actions.iter().any(|action| action == needed.action)
        };
        let missing = |needed: &NeededAction| {
            let (right, of_role) = if needed.is_of_server {
                (needed.action.to_owned(), SERVER)
            } else {
                (format!("{} on {database}", needed.action), database)
            };
            let grant = format!(
                "db.getSiblingDB({:?}).grantRolesToUser({:?}, [{{ role: {:?}, db: {of_role:?} }}])",
                self.kept_in, self.user, needed.role
            );
            MissingRight { right, purposes: needed.purposes.to_vec(), grant }
        };
        NEEDED.iter().filter(|needed| !has(needed)).map(missing).collect()
    }
}

/// The documents of an array.
fn documents(array: Document<'_>) -> impl Iterator<Item = Document<'_>> {
    array.iter().map_while(Result::ok).filter_map(|(_, element)| element.document())
}

/// The texts of an array.
fn texts(array: Option<Element<'_>>) -> Vec<String> {
    let Some(array) = array.and_then(Element::document) else { return Vec::new() };
    array.iter().map_while(Result::ok).filter_map(|(_, element)| element.text().map(str::to_owned)).collect()
}

fn is_true(resource: Document<'_>, name: &str) -> bool {
    resource.get(name).is_some_and(Element::is_true)
}

/// Tells whether a resource is all collections of a database, and not some of them.
fn is_whole(resource: Document<'_>, database: &str) -> bool {
    let named = |name: &str| resource.get(name).and_then(Element::text);
    named("db").is_some_and(|name| name.is_empty() || name == database) && named("collection") == Some("")
}

#[cfg(test)]
mod tests {
    use super::super::bson::Writer;
    use super::*;

    /// A resource by its database and its collection, and what may be done to it.
    type Privilege<'p> = (&'p str, &'p str, &'p [&'p str]);

    fn status(privileges: &[Privilege<'_>]) -> Vec<u8> {
        Writer::bytes(|status| {
            status.nested("authInfo", |info| {
                info.array("authenticatedUsers", |users| {
                    users.nested("0", |user| {
                        user.text("user", "ben");
                        user.text("db", "admin");
                    });
                });
                info.array("authenticatedUserPrivileges", |list| {
                    for (place, (database, collection, actions)) in privileges.iter().enumerate() {
                        list.nested(&place.to_string(), |privilege| {
                            privilege.nested("resource", |resource| {
                                if *database == "cluster" {
                                    resource.boolean("cluster", true);
                                } else {
                                    resource.text("db", database);
                                    resource.text("collection", collection);
                                }
                            });
                            privilege.array("actions", |list| {
                                for (place, action) in actions.iter().enumerate() {
                                    list.text(&place.to_string(), action);
                                }
                            });
                        });
                    }
                });
            });
        })
    }

    fn lacking(privileges: &[Privilege<'_>]) -> Vec<String> {
        let bytes = status(privileges);
        let login = LoginPrivileges::of(Document::whole(&bytes).unwrap(), "shop").unwrap().expect("it is logged in");
        login.lacking("shop").into_iter().map(|missing| missing.right).collect()
    }

    #[test]
    fn a_resource_counts_where_it_is_the_whole_database() {
        let all: &[&str] = &["listCollections", "find", "insert", "update"];
        let at_server = ("cluster", "", &["serverStatus", "replSetGetStatus", "fsync"][..]);
        assert_eq!(lacking(&[("shop", "", all), at_server]), [""; 0]);
        assert_eq!(lacking(&[("", "", all), at_server]), [""; 0], "of every database");
        for other in [("depot", "", all), ("shop", "usertable", all), ("", "usertable", all)] {
            let found = lacking(&[other, at_server]);
            assert_eq!(found, all.iter().map(|action| format!("{action} on shop")).collect::<Vec<_>>(), "{other:?}");
        }
        let found = lacking(&[("shop", "", all), ("shop", "", &["serverStatus"][..])]);
        assert_eq!(found, ["serverStatus", "replSetGetStatus", "fsync"], "that is no right at the server");
    }

    #[test]
    fn a_server_that_says_nothing_of_a_login_is_told() {
        let none = Writer::bytes(|status| status.nested("authInfo", |info| info.array("authenticatedUsers", |_| {})));
        assert!(LoginPrivileges::of(Document::whole(&none).unwrap(), "shop").unwrap().is_none());
        let silent = Writer::bytes(|status| status.int32("ok", 1));
        let error = LoginPrivileges::of(Document::whole(&silent).unwrap(), "shop").expect_err("it says nothing");
        assert!(error.to_string().contains("who is logged in"), "{error}");
    }
}
